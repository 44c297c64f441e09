import { status } from "@grpc/grpc-js";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import {
  type ChannelInfoEntry,
  ChannelInfosResponse,
  type ChannelMemberEntry,
  type ChannelMembershipEntry,
  ChannelMembershipsResponse,
  ChannelMembersRequest,
  ChannelMembersResponse,
  ChannelMetadataResponse,
  type ChannelModerationEntry,
  ChannelModerationsRequest,
  ChannelModerationsResponse,
  ChannelOwnerRequest,
  ChannelOwnerResponse,
  type ChannelPinEntry,
  ChannelPinResponse,
  ChannelRequest,
  ChannelsOfFidRequest,
} from "../../protocol/wire/generated/reads.ts";
import { OnChainEventRequest } from "../../protocol/wire/generated/state.ts";
import { FollowedOnChainEvents } from "../../protocol/wire/generated/upstream.ts";
import { type CallTransport, type Codec, isCode, type UnaryMethod } from "./connection.ts";
import { MESSAGES_PER_PAGE, type Page, pageOf } from "./pages.ts";
import { MalformedError, PeerError } from "./peer.ts";

const refuse = () => {
  throw new Error("this is a client");
};

/** The calls about channels. */
export class ChannelCalls {
  readonly #calls: CallTransport;

  constructor(calls: CallTransport) {
    this.#calls = calls;
  }

  /** @throws MalformedError for a response that cannot be decoded, which grpc-js would report as a fault of the call. */
  async #read<Request, Response>(
    method: UnaryMethod,
    request: Codec<Request>,
    value: Request,
    { decode }: Pick<Codec<Response>, "decode">,
  ): Promise<Response> {
    const read = await this.#calls.unary<Request, { response?: Response; cause?: unknown }>(
      method,
      request,
      value,
      {
        encode: refuse,
        decode(reader) {
          try {
            return { response: decode(reader) };
          } catch (cause) {
            return { cause };
          }
        },
      },
    );
    if (read.response === undefined)
      throw new MalformedError(`sends an undecodable response to ${method}: ${read.cause}`);
    return read.response;
  }

  /** Returns all registrations of channels, each still encoded. A node that does not support channels has none. */
  async registrations(): Promise<Uint8Array[]> {
    try {
      const request = { fid: 0, eventType: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER };
      return (
        await this.#calls.unary("getOnChainEvents", OnChainEventRequest, request, FollowedOnChainEvents)
      ).events;
    } catch (cause) {
      if (cause instanceof PeerError || isCode(cause, status.INVALID_ARGUMENT)) return [];
      throw cause;
    }
  }

  /** Returns the owner of the channel with a name; undefined for a name that was never registered. */
  async owner(channelKey: string): Promise<ChannelOwnerResponse | undefined> {
    try {
      return await this.#read("getChannelOwner", ChannelOwnerRequest, { channelKey }, ChannelOwnerResponse);
    } catch (cause) {
      if (isCode(cause, status.NOT_FOUND)) return undefined;
      throw cause;
    }
  }

  /** Returns the settings of a channel, resolved. */
  settings(channelId: Uint8Array): Promise<ChannelMetadataResponse> {
    return this.#read("getChannelMetadata", ChannelRequest, { channelId }, ChannelMetadataResponse);
  }

  /** Returns the cast that is pinned in a channel. */
  async pin(channelId: Uint8Array): Promise<ChannelPinEntry | undefined> {
    return (await this.#read("getChannelPin", ChannelRequest, { channelId }, ChannelPinResponse)).pin;
  }

  /** Returns a page of the member slots of a channel, in every state. */
  async members(channelId: Uint8Array, pageToken: Uint8Array | undefined): Promise<Page<ChannelMemberEntry>> {
    const request = ChannelMembersRequest.fromPartial({ channelId, pageSize: MESSAGES_PER_PAGE, pageToken });
    const { members, nextPageToken } = await this.#read(
      "getChannelMembers",
      ChannelMembersRequest,
      request,
      ChannelMembersResponse,
    );
    return pageOf(members, nextPageToken);
  }

  /** Returns a page of the casts that are or were hidden in a channel. */
  async moderations(
    channelId: Uint8Array,
    pageToken: Uint8Array | undefined,
  ): Promise<Page<ChannelModerationEntry>> {
    const request = ChannelModerationsRequest.fromPartial({
      channelId,
      pageSize: MESSAGES_PER_PAGE,
      pageToken,
    });
    const { moderations, nextPageToken } = await this.#read(
      "getChannelModerations",
      ChannelModerationsRequest,
      request,
      ChannelModerationsResponse,
    );
    return pageOf(moderations, nextPageToken);
  }

  async ownedBy(fid: number, pageToken: Uint8Array | undefined): Promise<Page<ChannelInfoEntry>> {
    const { channels, nextPageToken } = await this.#calls.unary(
      "getChannelsByFid",
      ChannelsOfFidRequest,
      { fid, pageSize: MESSAGES_PER_PAGE, pageToken },
      ChannelInfosResponse,
    );
    return pageOf(channels, nextPageToken);
  }

  /** Returns a page of the slots for an fid in all channels. */
  async membershipsOf(fid: number, pageToken: Uint8Array | undefined): Promise<Page<ChannelMembershipEntry>> {
    const { memberships, nextPageToken } = await this.#calls.unary(
      "getChannelMembershipsByFid",
      ChannelsOfFidRequest,
      { fid, pageSize: MESSAGES_PER_PAGE, pageToken },
      ChannelMembershipsResponse,
    );
    return pageOf(memberships, nextPageToken);
  }
}
