import { mapOk } from "../../lib/result.ts";
import type {
  ChannelInfo,
  FollowEntry,
  FollowerEntry,
  MemberEntry,
  MembershipEntry,
  ModerationEntry,
} from "../../read/hub/channels/channel-lists.ts";
import type { ChannelMetadata } from "../../read/hub/channels/channel-reads.ts";
import type { HubReads } from "../../read/hub/hub-reads.ts";
import type { RowFormat } from "../../read/hub/page.ts";
import { encodeFields, listedBytes, type WireField } from "../../read/hub/wire-bytes.ts";
import type { RawMethod } from "../raw-service.ts";
import { list, NOTHING, one, page, withFid } from "./method.ts";
import { bytes, fid, text, u32 } from "./request.ts";

const CHANNEL = { channelId: bytes(1) };
const CHANNEL_PAGE = { ...CHANNEL, ...page(2) };
const FID_PAGE = { fid: fid(1), ...page(2) };

/** Rows as encoded messages. */
const rows = <Row>(fields: (row: Row) => readonly WireField[]): RowFormat<Row, Uint8Array> => ({
  show: (row) => encodeFields(fields(row)),
  bytesOf: listedBytes,
});

const INFOS = rows(({ key, fid, ownerAddress, expiry }: ChannelInfo) => [
  { field: 1, bytes: Buffer.from(key) },
  { field: 2, value: fid },
  { field: 3, bytes: ownerAddress },
  { field: 4, value: expiry },
]);
const MEMBERS = rows(({ fid, state }: MemberEntry) => [
  { field: 1, value: fid },
  { field: 2, value: state },
]);
const MODERATIONS = rows(({ castHash, action, authorFid }: ModerationEntry) => [
  { field: 1, bytes: castHash },
  { field: 2, value: action },
  { field: 3, value: authorFid },
]);
const MEMBERSHIPS = rows(({ channelId, state }: MembershipEntry) => [
  { field: 1, bytes: channelId },
  { field: 2, value: state },
]);
const FOLLOWERS = rows(({ fid, followedAt }: FollowerEntry) => [
  { field: 1, value: fid },
  { field: 2, value: followedAt },
]);
const FOLLOWS = rows(({ channelId, followedAt }: FollowEntry) => [
  { field: 1, bytes: channelId },
  { field: 2, value: followedAt },
]);

/** The read methods of HubService over channels, by their names. */
export function channelMethods(reads: HubReads): Readonly<Record<string, RawMethod>> {
  return {
    GetChannelOwner: one({ key: text(1) }, ({ key = "" }) =>
      mapOk(reads.channelOwner({ key }), ({ fid, ownerAddress, expiry }) =>
        encodeFields([
          { field: 1, value: fid },
          { field: 2, bytes: ownerAddress },
          { field: 3, value: expiry },
        ]),
      ),
    ),
    GetChannelsByAddress: list({ address: bytes(1), ...page(2) }, ({ address = NOTHING, ...query }, call) =>
      reads.channelsByAddress({ ...query, address }, INFOS, call),
    ),
    GetChannelsByFid: list(FID_PAGE, (query, call) => reads.channelsByFid(withFid(query), INFOS, call)),
    GetChannelMember: one({ ...CHANNEL, fid: fid(2) }, (query) =>
      mapOk(reads.channelMember(withFid(withChannel(query))), ({ state, lastActionTs }) =>
        encodeFields([
          { field: 1, value: state },
          ...(lastActionTs === undefined ? [] : [{ field: 2, value: lastActionTs }]),
        ]),
      ),
    ),
    GetChannelMembers: list({ ...CHANNEL, stateFilter: u32(2), ...page(3) }, (query, call) =>
      reads.channelMembers(withChannel(query), MEMBERS, call),
    ),
    GetChannelPin: one(CHANNEL, (query) =>
      mapOk(reads.channelPin(withChannel(query)), (pin) => {
        if (!pin) return NOTHING;
        const entry = encodeFields([
          { field: 1, bytes: pin.castHash },
          { field: 2, value: pin.authorFid },
        ]);
        return encodeFields([{ field: 1, bytes: entry }]);
      }),
    ),
    GetChannelModerations: list(CHANNEL_PAGE, (query, call) =>
      reads.channelModerations(withChannel(query), MODERATIONS, call),
    ),
    GetChannelMetadata: one(CHANNEL, (query) =>
      mapOk(reads.channelMetadata(withChannel(query)), encodeMetadata),
    ),
    GetChannelMembershipsByFid: list(FID_PAGE, (query, call) =>
      reads.channelMembershipsByFid(withFid(query), MEMBERSHIPS, call),
    ),
    GetChannelFollowers: list(CHANNEL_PAGE, (query, call) =>
      reads.channelFollowers(withChannel(query), FOLLOWERS, call),
    ),
    GetChannelFollowerCount: one(CHANNEL, (query) =>
      mapOk(reads.channelFollowerCount(withChannel(query)), (count) =>
        encodeFields([{ field: 1, value: count }]),
      ),
    ),
    GetChannelFollows: list(FID_PAGE, (query, call) => reads.channelFollows(withFid(query), FOLLOWS, call)),
    IsFollowingChannel: one({ fid: fid(1), channelId: bytes(2) }, (query) =>
      mapOk(reads.isFollowingChannel(withFid(withChannel(query))), (followedAt) =>
        followedAt === undefined
          ? NOTHING
          : encodeFields([
              { field: 1, value: 1 },
              { field: 2, value: followedAt },
            ]),
      ),
    ),
  };
}

function encodeMetadata(metadata: ChannelMetadata): Uint8Array {
  const { name, description, imageUrl, header, rules, castingMode, membershipMode } = metadata;
  const texts = [name, description, imageUrl, header, rules].flatMap((value, at) =>
    value === undefined ? [] : [{ field: at + 1, bytes: Buffer.from(value) }],
  );
  return encodeFields([...texts, { field: 6, value: castingMode }, { field: 7, value: membershipMode }]);
}

function withChannel<Query extends { readonly channelId: Uint8Array | undefined }>(query: Query) {
  return { ...query, channelId: query.channelId ?? NOTHING };
}
