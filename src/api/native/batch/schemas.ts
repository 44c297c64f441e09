import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type {
  presentActiveSigner,
  presentFollow,
  presentReactionTarget,
} from "../../../read/present/native/batch.ts";
import type { IdRegistration as PresentedIdRegistration } from "../../../read/present/native/registry-event.ts";
import type { CastInteraction as PresentedCastInteraction } from "../../../read/queries/users/batch.ts";
import { type Assignable, closed, EthAddress, Fid, Hash, nullable, UnixSecs } from "../../shared/schemas.ts";
import { Key } from "../signers/schemas.ts";

export const MAX_BATCH_FIDS = 100;

export const BatchRequest = Type.Object({
  fids: Type.Array(Type.Integer({ format: "int64", minimum: 0, examples: [3] }), {
    maxItems: MAX_BATCH_FIDS,
    description: "Numbers; a repeated number appears once in the response",
  }),
});

const Follow = Type.Object(
  { fid: Fid, followed_at: Type.String({ format: "date-time", description: "ISO 8601 with milliseconds" }) },
  closed,
);
const ReactionTarget = Type.Object({ target_fid: Fid, timestamp: UnixSecs("When the fid reacted") }, closed);
const CastInteraction = Type.Object(
  { hash: Hash, liked: Type.Boolean(), recasted: Type.Boolean(), replied: Type.Boolean() },
  closed,
);
const ActiveSigner = Type.Object(
  {
    signer: Key,
    created_at: UnixSecs("When the key was added"),
    key_type: Type.Integer({ minimum: 0 }),
    metadata_type: Type.Integer({ minimum: 0 }),
  },
  closed,
);
const IdRegistration = Type.Object(
  {
    from: nullable(EthAddress),
    to: nullable(EthAddress),
    timestamp: UnixSecs("Time of the block"),
    event_type: Type.Union([
      Type.Literal("register"),
      Type.Literal("transfer"),
      Type.Literal("change_recovery"),
    ]),
  },
  closed,
);

const byFid = (item: TSchema) =>
  Type.Object(
    {},
    { additionalProperties: Type.Array(item), description: "Keyed by fid, one key for each requested fid" },
  );

export const BatchFollowingResponse = byFid(Follow);
export const BatchReactionsResponse = byFid(ReactionTarget);
export const BatchCastInteractionsResponse = byFid(CastInteraction);
export const BatchSignersResponse = byFid(ActiveSigner);
export const BatchIdRegistrationsResponse = byFid(IdRegistration);

export type ObjectTypeCheck = Assignable<ReturnType<typeof presentFollow>, Static<typeof Follow>> &
  Assignable<ReturnType<typeof presentReactionTarget>, Static<typeof ReactionTarget>> &
  Assignable<PresentedCastInteraction, Static<typeof CastInteraction>> &
  Assignable<ReturnType<typeof presentActiveSigner>, Static<typeof ActiveSigner>> &
  Assignable<PresentedIdRegistration, Static<typeof IdRegistration>>;
