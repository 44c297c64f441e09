import { type ObjectOptions, type TProperties, type TSchema, Type } from "@sinclair/typebox";

/** Parts of the schemas of responses, for the OpenAPI document. */

export const closed = { additionalProperties: false } as const;

/** An object with exactly these fields. */
export const object = <Fields extends TProperties>(fields: Fields, options: ObjectOptions = {}) =>
  Type.Object(fields, { ...closed, ...options });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const UnixSecs = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description}, unix seconds` });

export const Fid = Type.Integer({ format: "int64", minimum: 0 });

export const Hash = Type.String({ pattern: "^0x[0-9a-f]{40}$" });

export const EthAddress = Type.String({ pattern: "^0x[0-9a-f]{40}$" });

const SolAddress = Type.String({ minLength: 32, maxLength: 44, description: "base58" });

export const Count = Type.Integer({ minimum: 0 });

export const Next = object(
  { cursor: nullable(Type.String({ description: "Opaque; send it back to get the next page" })) },
  { $id: "Next", description: "Position of the next page; `cursor` is null at the end of the list" },
);

/** Fields of a user that are the same in every dialect. */
export const verifiedFields = {
  verified_addresses: object({
    eth_addresses: Type.Array(EthAddress),
    sol_addresses: Type.Array(SolAddress),
    primary: object({ eth_address: nullable(EthAddress), sol_address: nullable(SolAddress) }),
  }),
  verified_accounts: Type.Array(
    object({ platform: Type.Union([Type.Literal("x"), Type.Literal("github")]), username: Type.String() }),
  ),
};

export const MentionRanges = Type.Array(
  object({ start: Count, end: Count }, { description: "UTF-16 offsets into `text`; `end` is exclusive" }),
);

export const CastId = object({ fid: Fid, hash: Hash });

/** More members may follow. */
const open = { additionalProperties: true } as const;

const PreviewPicture = object({
  url: Type.String(),
  width: Type.Optional(Type.String({ description: "Pixels" })),
  height: Type.Optional(Type.String({ description: "Pixels" })),
  type: Type.Optional(Type.String()),
  alt: Type.Optional(Type.String()),
});

const PreviewImage = object({ width_px: Type.Integer(), height_px: Type.Integer() });

/** What the page of an embedded URL says about itself. */
export const EmbedMetadata = object(
  {
    _status: Type.Union(
      [
        Type.Literal("RESOLVED"),
        Type.Literal("PENDING"),
        Type.Literal("FAILED"),
        Type.Literal("NOT_FETCHED"),
      ],
      { description: "`NOT_FETCHED`: previews are off, or the request has no API key" },
    ),
    content_type: Type.Optional(nullable(Type.String())),
    content_length: Type.Optional(nullable(Count)),
    image: Type.Optional(PreviewImage),
    html: Type.Optional(
      Type.Object(
        {
          ogTitle: Type.Optional(Type.String({ description: "Else the title of the page" })),
          ogDescription: Type.Optional(Type.String()),
          ogSiteName: Type.Optional(Type.String()),
          ogImage: Type.Optional(Type.Array(PreviewPicture)),
          ogVideo: Type.Optional(Type.Array(PreviewPicture)),
          favicon: Type.Optional(Type.String()),
        },
        { ...open, description: "What the page says of itself by Open Graph and oEmbed" },
      ),
    ),
    frame: Type.Optional(
      Type.Object(
        {
          version: Type.String(),
          image: Type.String(),
          frames_url: Type.String({ description: "What a client opens" }),
          title: Type.Optional(Type.String({ description: "Of the button that opens it" })),
        },
        { ...open, description: "The mini app that the page is, or its frame of the first kind" },
      ),
    ),
  },
  { $id: "EmbedMetadata", description: "Present where previews are on" },
);

export const UrlEmbed = object({ url: Type.String(), metadata: Type.Optional(EmbedMetadata) });

/** Fields of a cast that are the same in every dialect. */
export const parentFields = {
  parent_hash: nullable(Hash),
  parent_url: nullable(Type.String()),
  root_parent_url: nullable(Type.String()),
  parent_author: object({ fid: nullable(Fid) }),
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
  experimental: Type.Optional(object({ neynar_user_score: Score })),
};
