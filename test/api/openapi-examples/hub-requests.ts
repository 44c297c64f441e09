import { appendHubBlock } from "../../../src/db/index/log/hub-log.ts";
import type { JsonObject } from "../../../src/http/openapi/document.ts";
import type { OperationExample } from "../../../src/http/openapi/examples.ts";
import { encodeHubBody } from "../../../src/ingest/hub-log/operation-events.ts";
import { firstEventId } from "../../../src/protocol/hub-event-id.ts";
import { HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { Message } from "../../../src/protocol/wire/generated/message.ts";
import type { TestApi } from "../../support/api.ts";
import { REGISTERED_CHANNEL } from "./demo-api.ts";
import { exampleOf } from "./operations.ts";

interface HubMessage {
  readonly data: {
    readonly fid: number;
    readonly timestamp: number;
    readonly reactionBody?: { readonly targetCastId: { readonly fid: number; readonly hash: string } };
    readonly linkBody?: { readonly targetFid: number };
    readonly verificationAddAddressBody?: { readonly address: string };
  };
  readonly hash: string;
  readonly signature: string;
  readonly signer: string;
  readonly dataBytes: string;
}

const EXAMPLE_HEIGHT = 18_000_000_000;

interface HubEvent {
  readonly signerEventBody: { readonly key: string };
  readonly idRegisterEventBody: { readonly to: string };
}

async function read<T>(api: TestApi, path: string): Promise<T> {
  return (await (await fetch(`${api.url}/v1${path}`)).json()) as T;
}

async function firstOf(api: TestApi, path: string): Promise<HubMessage> {
  const { messages } = await read<{ messages: HubMessage[] }>(api, path);
  const [first] = messages;
  if (first === undefined) throw new Error(`${path} is empty`);
  return first;
}

/** The parameters of the reads under `/v1`, by operation id. */
export async function hubRequests(
  api: TestApi,
  cast: { readonly fid: number; readonly hash: string; readonly parentUrl: string },
): Promise<Readonly<Record<string, JsonObject>>> {
  const reaction = await firstOf(api, `/reactionsByCast?target_fid=${cast.fid}&target_hash=${cast.hash}`);
  const link = await firstOf(api, "/linksByFid?fid=3");
  const verification = await firstOf(api, "/verificationsByFid?fid=3");
  const signers = await read<{ events: HubEvent[] }>(api, "/onChainSignersByFid?fid=3");
  const registrations = await read<{ events: HubEvent[] }>(api, "/onChainEventsByFid?fid=3&event_type=3");
  const signer = signers.events[0]?.signerEventBody.key ?? "";
  const address = registrations.events[0]?.idRegisterEventBody.to ?? "";
  const target = { target_fid: cast.fid, target_hash: cast.hash };
  const targetFid = link.data.linkBody?.targetFid ?? 0;
  const channel = await read<{ channel: { channel_id: string; owner_address: string } }>(
    api,
    `/../v2/svc/channel?id=${REGISTERED_CHANNEL}`,
  );
  const inChannel = { channel_id: channel.channel.channel_id };
  const eventId = logEvent(api, await firstOf(api, "/castsByFid?fid=3&with_data_bytes=1"));
  return {
    hubEvents: { from_event_id: eventId },
    hubEventById: { event_id: eventId },
    hubCastById: { fid: cast.fid, hash: cast.hash },
    hubCastsByParent: { url: cast.parentUrl },
    hubReactionById: { fid: reaction.data.fid, reaction_type: "Like", ...target },
    hubReactionsByCast: target,
    hubReactionsByTarget: target,
    hubLinkById: { fid: 3, target_fid: targetFid, link_type: "follow" },
    hubLinksByTargetFid: { target_fid: targetFid, link_type: "follow" },
    hubUserDataByFid: { fid: 3, user_data_type: "USER_DATA_TYPE_DISPLAY" },
    hubVerificationsByFid: {
      fid: 3,
      address: verification.data.verificationAddAddressBody?.address ?? "",
    },
    hubUserNameProofByName: { name: "mirawren" },
    hubSigner: { fid: 3, signer },
    hubOnChainSignersByFid: { fid: 3 },
    hubOnChainEventsByFid: { fid: 3, event_type: "EVENT_TYPE_ID_REGISTER" },
    hubOnChainIdRegistryEventByAddress: { address },
    hubFidAddressType: { fid: 3, address },
    hubChannelOwner: { channel_key: REGISTERED_CHANNEL },
    hubChannelsByAddress: { address: channel.channel.owner_address },
    hubChannelMember: { ...inChannel, fid: 4 },
    hubChannelMembers: inChannel,
    hubChannelPin: inChannel,
    hubChannelModerations: inChannel,
    hubChannelMetadata: inChannel,
    hubChannelFollowers: inChannel,
    hubChannelFollowerCount: inChannel,
    hubIsFollowingChannel: { ...inChannel, fid: 3 },
  };
}

/** Puts the merge of a message into the log of hub events, which the demo network does not have. Returns the id of the event. */
function logEvent({ node }: TestApi, message: HubMessage): number {
  const height = EXAMPLE_HEIGHT;
  const id = firstEventId(height) + 1;
  const value = { message: encodedMessage(message), deletedMessages: [] };
  const event = {
    id,
    type: HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE,
    fid: message.data.fid,
    body: encodeHubBody({ $case: "merge", value }),
  };
  const at = message.data.timestamp;
  node.db.transaction(() =>
    appendHubBlock(node.db, { shard: 1, height, at, hash: new Uint8Array(), seqnum: 0, events: [event] }),
  );
  return id;
}

/** The examples of submits: a message that the network has, which is checked once more. */
export async function hubSubmitExamples(api: TestApi): Promise<Record<string, OperationExample>> {
  const bytes = encodedMessage(await firstOf(api, "/linksByFid?fid=3&with_data_bytes=1"));
  const response = await fetch(`${api.url}/v1/validateMessage`, { method: "POST", body: bytes });
  const validated = (await response.json()) as { message: JsonObject } & JsonObject;
  if (response.status !== 200) throw new Error(JSON.stringify(validated));
  const { message } = validated;
  return {
    hubSubmitMessage: exampleOf({}, { status: 200, body: message }),
    hubSubmitBulkMessages: exampleOf({}, { status: 200, body: { messages: [message] } }),
    hubValidateMessage: exampleOf({}, { status: 200, body: validated }),
  };
}

function encodedMessage({ hash, signature, signer, dataBytes }: HubMessage): Uint8Array {
  return Message.encode(
    Message.fromPartial({
      hash: Buffer.from(hash.slice(2), "hex"),
      hashScheme: 1,
      signature: Buffer.from(signature, "base64"),
      signatureScheme: 1,
      signer: Buffer.from(signer.slice(2), "hex"),
      dataBytes: Buffer.from(dataBytes, "base64"),
    }),
  ).finish();
}
