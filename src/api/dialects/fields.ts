import { type TSchema, Type } from "@sinclair/typebox";

/** Parts of the schemas of responses, for the OpenAPI document. */

export const closed = { additionalProperties: false } as const;

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const UnixSecs = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description}, unix seconds` });

export const Fid = Type.Integer({ format: "int64", minimum: 0 });

export const Hash = Type.String({ pattern: "^0x[0-9a-f]{40}$" });

export const EthAddress = Type.String({ pattern: "^0x[0-9a-f]{40}$" });

const SolAddress = Type.String({ minLength: 32, maxLength: 44, description: "base58" });

export const Count = Type.Integer({ minimum: 0 });

export const Next = Type.Object(
  { cursor: nullable(Type.String({ description: "Opaque; send it back to get the next page" })) },
  {
    ...closed,
    $id: "Next",
    description: "Position of the next page; `cursor` is null at the end of the list",
  },
);

/** Fields of a user that are the same in every dialect. */
export const verifiedFields = {
  verified_addresses: Type.Object(
    {
      eth_addresses: Type.Array(EthAddress),
      sol_addresses: Type.Array(SolAddress),
      primary: Type.Object({ eth_address: nullable(EthAddress), sol_address: nullable(SolAddress) }, closed),
    },
    closed,
  ),
  verified_accounts: Type.Array(
    Type.Object(
      { platform: Type.Union([Type.Literal("x"), Type.Literal("github")]), username: Type.String() },
      closed,
    ),
  ),
};

export const MentionRanges = Type.Array(
  Type.Object(
    { start: Count, end: Count },
    { ...closed, description: "UTF-16 offsets into `text`; `end` is exclusive" },
  ),
);

export const CastId = Type.Object({ fid: Fid, hash: Hash }, closed);

export const UrlEmbed = Type.Object({ url: Type.String() }, closed);

/** Fields of a cast that are the same in every dialect. */
export const parentFields = {
  parent_hash: nullable(Hash),
  parent_url: nullable(Type.String()),
  root_parent_url: nullable(Type.String()),
  parent_author: Type.Object({ fid: nullable(Fid) }, closed),
};

export const CastText = Type.String({
  description: "Contains `@username` at the positions of the mentions",
});

/** Compile-time check that a presenter and its documented object have the same type. */
export type Assignable<A extends B, B> = [A] extends [B] ? true : never;

const Score = Type.Number({
  minimum: 0,
  maximum: 1,
  description: "How much the account is noticed by trusted ones; present unless `scores.mode` is off",
});

/** The score of an account. */
export const scoreFields = {
  score: Type.Optional(Score),
  experimental: Type.Optional(Type.Object({ neynar_user_score: Score }, closed)),
};
