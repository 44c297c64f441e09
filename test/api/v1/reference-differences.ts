/** Differences between the responses of this node and those of the reference node that stay. */
export interface AcceptedDifference {
  readonly request: RegExp;
  /** As in `Difference`; where the status differs, both statuses. */
  readonly paths: readonly string[];
  readonly reason: string;
}

const get = (route: string) => new RegExp(`^GET /v1/(?:${route})(?:\\?|$)`);

const TOKEN =
  "clients loop until the token is exactly empty: it is there on every list, and the end of all shards has none";
const BESIDE = "an addition beside the keys of the reference node";
const TAKEN = "the reference node refuses it without need";

export const ACCEPTED: readonly AcceptedDifference[] = [
  {
    request: get("channelFollowers"),
    paths: [".followers[].fid"],
    reason: "rows are in one order of time over all shards, not shard after shard",
  },
  {
    request: get("castsByMention|castsByParent|linksByTargetFid"),
    paths: [".nextPageToken"],
    reason: TOKEN,
  },
  {
    request: get(
      "onChainEventsByFid|onChainSignersByFid|signersByFid|channelMembers|channelModerations|channelFollowers|channelsByFid|channelMembershipsByFid|channelFollows",
    ),
    paths: ["+.nextPageToken"],
    reason: TOKEN,
  },
  { request: /^GET \/v1\/events\?.*pageSize=20/, paths: ["+.nextPageToken"], reason: TOKEN },
  {
    request: get("castsByParent|linksByTargetFid|reactionsByTarget"),
    paths: ["~.messages[]"],
    reason:
      "rows are in one order of time over all shards, not shard after shard, so that a walk has each once",
  },
  {
    request: /^GET \/v1\/castsByFid\?.*pageSize=0/,
    paths: ["+.messages[] MESSAGE_TYPE_CAST_ADD CAST", ".nextPageToken"],
    reason: "a size of 0 is the default, as an absent one; the reference node returns one row",
  },
  {
    request: get("userNameProofsByFid"),
    paths: ["-.proofs[] twice"],
    reason: "each proof is there once; the reference node repeats those of fnames for each shard",
  },
  {
    request: /^GET \/v1\/userDataByFid\?.*user_data_type=/,
    paths: [
      "200 400",
      "+.data",
      "+.hash",
      "+.hashScheme",
      "+.signature",
      "+.signatureScheme",
      "+.signer",
      "-.messages[] MESSAGE_TYPE_USER_DATA_ADD USER_DATA_TYPE_DISPLAY",
      "-.messages[] MESSAGE_TYPE_USER_DATA_ADD USER_DATA_TYPE_USERNAME",
    ],
    reason:
      "the type filters, as in Hubble, whose clients read one message or not_found; the reference node ignores it",
  },
  {
    request: /^GET \/v1\/onChainSignersByFid\?.*signer=/,
    paths: [
      "+.type",
      "+.chainId",
      "+.blockNumber",
      "+.blockHash",
      "+.blockTimestamp",
      "+.transactionHash",
      "+.logIndex",
      "+.fid",
      "+.signerEventBody",
      "+.tier_purchase_event_body",
      "+.txIndex",
      "+.version",
    ],
    reason: "beside the list, the event's own keys, which clients of Hubble read",
  },
  { request: get("eventById"), paths: ["+.timestamp"], reason: BESIDE },
  {
    request: get("eventById"),
    paths: ["+.blockConfirmedBody.eventCountsByType", "+.blockConfirmedBody.maxBlockEventSeqnum"],
    reason: BESIDE,
  },
  {
    request: get("eventById"),
    paths: ["+.pruneMessageBody.message.data.verificationAddAddressBody.verificationType"],
    reason: BESIDE,
  },
  {
    request: get("events"),
    paths: [
      "+.events[].timestamp",
      "+.events[].blockConfirmedBody.eventCountsByType",
      "+.events[].blockConfirmedBody.maxBlockEventSeqnum",
      "+.events[].mergeMessageBody.message.data.verificationAddAddressBody.verificationType",
      "+.events[].mergeMessageBody.deletedMessages[].data.verificationAddAddressBody.verificationType",
      "+.events[].pruneMessageBody.message.data.verificationAddAddressBody.verificationType",
      "+.nextPageEventId",
      "+.oldestEventId",
    ],
    reason: BESIDE,
  },
  {
    request: get("verificationsByFid"),
    paths: ["+.messages[].data.verificationAddAddressBody.verificationType"],
    reason: BESIDE,
  },
  {
    request: get("info"),
    paths: [
      "+.hubOperatorFid",
      "+.isSyncing",
      "+.nickname",
      "+.peerId",
      "+.rootHash",
      "+.shardInfos[].numOnchainEvents",
    ],
    reason: BESIDE,
  },
  { request: get("signer"), paths: ["+.signer.onchainEvent"], reason: BESIDE },
  { request: get("signersByFid"), paths: ["+.signers[].onchainEvent"], reason: BESIDE },
  {
    request: get("storageLimitsByFid"),
    paths: [
      "+.unitDetails[].purchasedUnitSize",
      "+.unitDetails[].lentUnitSize",
      "+.unitDetails[].borrowedUnitSize",
    ],
    reason: BESIDE,
  },
  { request: get("fids"), paths: ["400 200"], reason: `${TAKEN}: no shard means all` },
  {
    request: /^GET \/v1\/onChainEventsByFid\?.*event_type=\d/,
    paths: ["400 200"],
    reason: `${TAKEN}: a type as number`,
  },
  { request: get("reactionsByFid"), paths: ["400 200"], reason: `${TAKEN}: no type means both` },
  {
    request: /^GET \/v1\/reactionsByTarget\?target_fid=/,
    paths: ["400 200"],
    reason: `${TAKEN}: the parameters of reactionsByCast`,
  },
  {
    request: /^GET \/v1\/submitMessage$/,
    paths: ["404 405"],
    reason: "a wrong method outside of /v2/ is 405",
  },
];
