import { type Static, Type } from "@sinclair/typebox";
import { cursor, fid, limit, optional } from "../../../http/request/params.ts";
import {
  type IdRegistryEvent as PresentedIdRegistryEvent,
  type SignerEvent as PresentedSignerEvent,
  presentIdRegistryEvent,
  presentSignerEvent,
} from "../../../read/present/native/registry-event.ts";
import { registryEvents, registryEventsCursors } from "../../../read/queries/users/registry.ts";
import type { ReadSource } from "../../../read/run-query.ts";
import {
  type Assignable,
  Count,
  EthAddress,
  Fid,
  Next,
  nullable,
  object,
  UnixSecs,
} from "../../dialects/fields.ts";
import { decodeCursor } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Signers and on-chain events" });

export const Key = Type.String({
  pattern: "^0x(?:[0-9a-f]{2})+$",
  description: "An Ed25519 key, or an auth address in its ABI encoding; the chain accepts other bytes too",
});

const SignerEvent = object(
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
  { $id: "SignerEvent" },
);

const IdRegistryEvent = object(
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
  { $id: "IdRegistryEvent" },
);

export const SignerEventPageResponse = object({ events: Type.Array(SignerEvent), next: Next });

const IdRegistryEventPageResponse = object({ events: Type.Array(IdRegistryEvent), next: Next });

interface EventsQuery {
  readonly fid: number;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Most clients of these lists do not paginate, so the default page has room for the events of nearly every fid. */
export const DEFAULT_EVENTS = 100;

const params = () => ({ fid: fid(), limit: optional(limit(), DEFAULT_EVENTS), cursor: cursor() });

const signerEvents = {
  id: "getSignerEvents",
  summary: "Every event of an fid's on-chain keys, in chain order",
  query: params(),
  response: SignerEventPageResponse,
} as const;

export const registryOperations = [
  read({
    ...signerEvents,
    surface: "native",
    path: "/signer",
    aliases: ["/signers", "/signer/list", "/onchain/signers"],
    run: ({ reads }, { query }) => listSigners(reads, query),
  }),
  // In the hosted API, the other paths return keys that it manages.
  read({
    ...signerEvents,
    surface: "compat",
    path: "/onchain/signers",
    aliases: ["/signers"],
    run: ({ reads }, { query }) => listSigners(reads, query),
  }),
  read({
    id: "getIdRegistryEvents",
    path: "/onchain/id_registry_event",
    summary: "Registration, transfers and recovery changes of an fid, in chain order",
    query: params(),
    response: IdRegistryEventPageResponse,
    run: ({ reads }, { query }) => {
      const { rows, cursor } = eventsOf(reads, "idRegister", query);
      return { events: rows.flatMap((event) => presentIdRegistryEvent(event) ?? []), next: { cursor } };
    },
  }),
];

function eventsOf({ db }: ReadSource, kind: keyof typeof registryEventsCursors, query: EventsQuery) {
  const after = decodeCursor(registryEventsCursors[kind], query.cursor);
  return registryEvents(db, { kind, fid: query.fid, limit: query.limit, after });
}

/** Returns a page of the events of an fid's keys. */
export function listSigners(source: ReadSource, query: EventsQuery) {
  const { rows, cursor } = eventsOf(source, "signer", query);
  return { events: rows.flatMap((event) => presentSignerEvent(event) ?? []), next: { cursor } };
}

export type ObjectTypeCheck = Assignable<PresentedSignerEvent, Static<typeof SignerEvent>> &
  Assignable<PresentedIdRegistryEvent, Static<typeof IdRegistryEvent>>;
