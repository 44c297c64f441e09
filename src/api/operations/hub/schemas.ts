import { type TSchema, Type } from "@sinclair/typebox";

/** The schemas of `/v1`. The document describes them loosely, because the protocol's own definitions are the reference. */

const open = { additionalProperties: true } as const;

export const HubError = Type.Object(
  {
    errCode: Type.String({ examples: ["not_found"] }),
    presentable: Type.Boolean(),
    name: Type.String(),
    code: Type.Integer({ description: "Number of the gRPC status" }),
    details: Type.String(),
    metadata: Type.Object({ errcode: Type.Array(Type.String()) }, { additionalProperties: false }),
    error: Type.String(),
    error_detail: Type.String(),
    message: Type.String(),
  },
  { $id: "HubError", additionalProperties: false },
);

const messageFields = {
  data: Type.Object(
    {
      type: Type.String({ examples: ["MESSAGE_TYPE_CAST_ADD"] }),
      fid: Type.Integer(),
      timestamp: Type.Integer({ description: "Seconds since 2021-01-01T00:00:00Z" }),
      network: Type.String(),
    },
    { ...open, description: "With the one body of its type, for example `castAddBody`" },
  ),
  hash: Type.String({ description: "0x and hex" }),
  hashScheme: Type.String(),
  signature: Type.String({ description: "Base64" }),
  signatureScheme: Type.String(),
  signer: Type.String({ description: "0x and hex" }),
  dataBytes: Type.Optional(Type.String({ description: "The signed bytes in base64, if asked for" })),
};
export const HubMessage = Type.Object(messageFields, { $id: "HubMessage", additionalProperties: false });

export const nextPageToken = Type.String({ description: "Empty on the last page" });

export const HubMessages = Type.Object(
  { messages: Type.Array(HubMessage), nextPageToken },
  { $id: "HubMessages", additionalProperties: false },
);

/** A list, or a single requested message, whose keys are next to those of the list. */
export const HubMessagesOrOne = Type.Object(
  {
    ...Object.fromEntries(
      Object.entries(messageFields).map(([name, schema]) => [name, Type.Optional(schema)]),
    ),
    messages: Type.Array(HubMessage),
    nextPageToken,
  },
  { $id: "HubMessagesOrOne", additionalProperties: false },
);

const eventFields = {
  type: Type.String({ examples: ["EVENT_TYPE_SIGNER"] }),
  fid: Type.Integer(),
  chainId: Type.Integer(),
  blockNumber: Type.Integer(),
  blockHash: Type.String(),
  blockTimestamp: Type.Integer({ description: "Unix seconds" }),
  transactionHash: Type.String(),
  logIndex: Type.Integer(),
};
export const HubOnChainEvent = Type.Object(eventFields, { $id: "HubOnChainEvent", ...open });
export const HubOnChainEvents = Type.Object(
  { events: Type.Array(HubOnChainEvent), nextPageToken },
  { $id: "HubOnChainEvents", additionalProperties: false },
);
export const HubOnChainEventsOrOne = Type.Object(
  { events: Type.Array(HubOnChainEvent), nextPageToken },
  { $id: "HubOnChainEventsOrOne", ...open },
);

export const HubUserNameProof = Type.Object(
  {
    timestamp: Type.Integer({ description: "Unix seconds" }),
    name: Type.String(),
    owner: Type.String(),
    signature: Type.String({ description: "Base64" }),
    fid: Type.Integer({ description: "0 for a name that was released" }),
    type: Type.String(),
  },
  { $id: "HubUserNameProof", additionalProperties: false },
);

export const HubSigner = Type.Object(
  { source: Type.String(), key: Type.String(), keyType: Type.Integer(), fid: Type.Integer() },
  { $id: "HubSigner", ...open },
);

/** Returns the schema of an object with these and other fields. */
export const openObject = (fields: Record<string, TSchema>) => Type.Object(fields, open);
/** Returns the schema of an object with exactly these fields. */
export const closedObject = (fields: Record<string, TSchema>) =>
  Type.Object(fields, { additionalProperties: false });

export const HubEventSchema = Type.Object(
  {
    type: Type.String({ examples: ["HUB_EVENT_TYPE_MERGE_MESSAGE"] }),
    id: Type.Integer({ description: "Block number << 14 | position in the block" }),
    blockNumber: Type.Integer(),
    shardIndex: Type.Integer(),
    timestamp: Type.Integer({ description: "Of the block, in seconds since 2021-01-01T00:00:00Z" }),
  },
  { ...open, $id: "HubEvent", description: "With the one body of its type, for example `mergeMessageBody`" },
);
