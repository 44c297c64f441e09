import type { WebhookExample } from "../../../src/api/operations/webhooks/openapi-webhooks.ts";
import { clientFidsOf } from "../../../src/demo/roster.ts";
import type { Json } from "../../../src/http/openapi/document.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { ok } from "../../../src/lib/result.ts";
import type { EventKind } from "../../../src/protocol/event-kind.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import {
  Message,
  MessageData,
  MessageType,
  ReactionType,
  UserDataType,
} from "../../../src/protocol/wire/generated/message.ts";
import { nowSecs } from "../../../src/runtime/clock.ts";
import { createCallReceiver } from "../../../src/webhooks/deliver/call-receiver.ts";
import { readEvent } from "../../../src/webhooks/event.ts";
import { buildBodies } from "../../../src/webhooks/publish/payload.ts";
import { messageIdOf } from "../../../src/webhooks/store/queue-events.ts";
import type { TestApi } from "../../support/api.ts";
import { Action, acts, moderates, pins, registers, updates, uriOf } from "../../support/channel-records.ts";
import { registerEvent } from "../../support/events.ts";
import { signMessage } from "../../support/messages.ts";
import { takeEvents } from "../../support/outbox.ts";
import { likeUrl, unlikeUrl } from "../../support/records.ts";
import { hashOf } from "../../support/social.ts";
import { keyring, OWNER_FID, REGISTERED_CHANNEL } from "./demo-api.ts";

const SECRET = "5a".repeat(32);
const NEW_FID = 1_000;
const FRIEND_FID = 4;

/** One delivery of each kind, built, signed and sent by the delivery code. */
export async function webhookExamples(api: TestApi): Promise<Record<string, WebhookExample>> {
  const { node } = api;
  takeEvents(node.db);
  const examples: Partial<Record<EventKind, WebhookExample>> = {};
  // Runs between two causes, like the delivery worker: the reaction contains the cast that is deleted afterwards.
  for (const _ of causeEvents(api)) {
    const events = takeEvents(node.db).map(readEvent);
    const bodies = buildBodies(node.db, events, nowSecs(node.clock));
    for (const event of events) {
      const body = bodies.get(event);
      if (body === undefined) throw new Error(`a ${event.kind} has no body`);
      const headers = await deliver(api, messageIdOf(event.eventId, "example"), body);
      examples[event.kind] = { headers, body: JSON.parse(body) as Json, secret: SECRET };
    }
  }
  return Object.fromEntries(Object.entries(examples).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const CHANNEL_OWNER = 9;
const NEW_MEMBER = 12;

/** Causes each kind of event of a channel. `casts`: the hash of a live cast. */
function* causeChannelEvents(
  take: (record: EncodedRecord) => void,
  { now, cast }: { readonly now: number; readonly cast: Uint8Array },
): Generator<void> {
  const at = toFarcasterSecs(now);
  const owner = keyring.verifiedWallet(OWNER_FID, 0).address;
  const act = (action: (typeof Action)[keyof typeof Action]) =>
    take(byDemoSigner(acts(CHANNEL_OWNER, REGISTERED_CHANNEL, action, NEW_MEMBER, at)));
  yield take(registers("rye-club", owner, { blockNumber: 140_000_001, atSecs: now - 30 }));
  const settings = { name: "Night Trains", rules: "Name the route, and the year." };
  yield take(byDemoSigner(updates(CHANNEL_OWNER, REGISTERED_CHANNEL, settings, at)));
  yield act(Action.addMember);
  yield act(Action.addModerator);
  yield act(Action.removeModerator);
  yield act(Action.removeMember);
  yield act(Action.ban);
  yield act(Action.unban);
  yield take(byDemoSigner(pins(CHANNEL_OWNER, REGISTERED_CHANNEL, cast, at)));
  yield take(byDemoSigner(pins(CHANNEL_OWNER, REGISTERED_CHANNEL, new Uint8Array(), at)));
  yield take(byDemoSigner(moderates(CHANNEL_OWNER, REGISTERED_CHANNEL, cast, true, at)));
  yield take(byDemoSigner(likeUrl(OWNER_FID, uriOf("atelier"), at)));
  yield take(byDemoSigner(unlikeUrl(OWNER_FID, uriOf("atelier"), at)));
}

/** Signs a message again, with the key that the demo network knows. */
function byDemoSigner({ bytes }: EncodedRecord): EncodedRecord {
  const data = MessageData.decode(Message.decode(bytes).dataBytes ?? new Uint8Array());
  const [clientFid = 0] = clientFidsOf(data.fid);
  const { seed, publicKey, privateKey } = keyring.signer(data.fid, clientFid);
  return {
    kind: "message",
    bytes: signMessage(data, { privateKey: seed, publicKey, keyObject: privateKey }),
  };
}

/** Causes one event after another in the network, until each kind has occurred. */
function* causeEvents({ node }: TestApi): Generator<void> {
  const now = nowSecs(node.clock);
  const take = (outcome: string) => {
    if (outcome !== "ok") throw new Error(`the node refuses the cause of an event: ${outcome}`);
  };
  const say = (type: MessageType, body: MessageData["body"], secsAgo = 0): Uint8Array => {
    const [clientFid = 0] = clientFidsOf(OWNER_FID);
    const { seed, publicKey, privateKey } = keyring.signer(OWNER_FID, clientFid);
    const data = { type, fid: OWNER_FID, timestamp: toFarcasterSecs(now - secsAgo), body };
    const message = signMessage(data, { privateKey: seed, publicKey, keyObject: privateKey });
    take(node.ingestMessage(message));
    return message;
  };
  const cast = say(
    MessageType.MESSAGE_TYPE_CAST_ADD,
    { $case: "castAddBody", value: castBody("Sourdough for breakfast, again.") },
    60,
  );
  const targetHash = Buffer.from(hashOf(cast).slice(2), "hex");
  const link = {
    $case: "linkBody" as const,
    value: { type: "follow", target: { $case: "targetFid" as const, value: NEW_FID } },
  };
  const reaction = {
    $case: "reactionBody" as const,
    value: {
      type: ReactionType.REACTION_TYPE_LIKE,
      target: { $case: "targetCastId" as const, value: { fid: OWNER_FID, hash: targetHash } },
    },
  };
  const custody = keyring.custody(FRIEND_FID).address;
  take(node.ingestEvent(registerEvent(NEW_FID, custody, { block: 140_000_000, at: now - 30 })));
  yield;
  yield* causeChannelEvents((record) => take(node.ingest(record)), { now, cast: targetHash });
  yield void say(MessageType.MESSAGE_TYPE_LINK_ADD, link, 20);
  yield void say(MessageType.MESSAGE_TYPE_LINK_REMOVE, link, 10);
  yield void say(MessageType.MESSAGE_TYPE_REACTION_ADD, reaction, 20);
  yield void say(MessageType.MESSAGE_TYPE_REACTION_REMOVE, reaction, 10);
  const bio = { type: UserDataType.USER_DATA_TYPE_BIO, value: "Mostly bread." };
  yield void say(MessageType.MESSAGE_TYPE_USER_DATA_ADD, { $case: "userDataBody", value: bio });
  yield void say(MessageType.MESSAGE_TYPE_CAST_REMOVE, { $case: "castRemoveBody", value: { targetHash } });
}

const castBody = (text: string) => ({
  text,
  type: 0,
  embeds: [],
  embedsDeprecated: [],
  mentions: [],
  mentionsPositions: [],
  parent: undefined,
});

/** Sends a body to a receiver; returns the received headers of the webhook contract. */
async function deliver({ node }: TestApi, messageId: string, body: string): Promise<Record<string, string>> {
  const sent: Record<string, string> = {};
  const call = createCallReceiver({
    client: {
      async request({ headers = {} }) {
        Object.assign(sent, headers);
        return ok({
          status: 204,
          headers: new Headers(),
          body: new Uint8Array(),
          truncated: false,
          durationMs: 1,
        });
      },
    },
    clock: node.clock,
    timeoutMs: 1000,
    sender: { userAgent: "example", signatureHeader: "signature", replayHeader: "replay" },
  });
  const secret = { uid: "example", value: SECRET, createdAt: 1, expiresAt: null };
  await call(
    {
      seq: 1,
      leaseEndsAtMs: 0,
      dueAtMs: 0,
      countedAtMs: 0,
      messageId,
      attempts: 0,
      body,
      ownerFid: 3,
      targetUrl: "https://hooks.example/bread",
      replayId: null,
      compatPrefix: null,
      secrets: [secret],
    },
    new AbortController().signal,
  );
  const { "content-type": _type, "user-agent": _agent, ...headers } = sent;
  return headers;
}
