import { type Static, Type } from "@sinclair/typebox";
import type {
  IdRegistryEvent as PresentedIdRegistryEvent,
  SignerEvent as PresentedSignerEvent,
} from "../../../read/present/native/registry-event.ts";
import {
  type Assignable,
  Count,
  closed,
  EthAddress,
  Fid,
  Next,
  nullable,
  UnixSecs,
} from "../../shared/schemas.ts";

export const Key = Type.String({
  pattern: "^0x(?:[0-9a-f]{2})+$",
  description: "An Ed25519 key, or an auth address in its ABI encoding; the chain accepts other bytes too",
});

const SignerEvent = Type.Object(
  {
    object: Type.Literal("signer"),
    fid: Fid,
    event_type: Type.Union([Type.Literal("add"), Type.Literal("remove"), Type.Literal("admin_reset")]),
    block_number: Count,
    block_timestamp: UnixSecs("Time of the block"),
    signer_key: Key,
    key_type: Type.Integer({ minimum: 0, description: "0 if the event names none" }),
    metadata_type: Type.Integer({ minimum: 0, description: "0 if the event names none" }),
  },
  { ...closed, $id: "SignerEvent" },
);

const IdRegistryEvent = Type.Object(
  {
    object: Type.Literal("id_registry_event"),
    fid: Fid,
    event_type: Type.Union([
      Type.Literal("Register"),
      Type.Literal("Transfer"),
      Type.Literal("ChangeRecovery"),
    ]),
    block_number: Count,
    block_timestamp: UnixSecs("Time of the block"),
    from: nullable(EthAddress),
    to: nullable(EthAddress),
    recovery_address: nullable(EthAddress),
  },
  { ...closed, $id: "IdRegistryEvent" },
);

export const SignerEventPageResponse = Type.Object({ events: Type.Array(SignerEvent), next: Next }, closed);
export const IdRegistryEventPageResponse = Type.Object(
  { events: Type.Array(IdRegistryEvent), next: Next },
  closed,
);

export type ObjectTypeCheck = Assignable<PresentedSignerEvent, Static<typeof SignerEvent>> &
  Assignable<PresentedIdRegistryEvent, Static<typeof IdRegistryEvent>>;
