import { type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import { clientKeyOf, exchangeOf } from "../../../http/exchange.ts";
import { flat, type Price } from "../../../http/limits/prices.ts";
import { captureBody, rawBody } from "../../../http/request/body.ts";
import { badRequest } from "../../../http/request/params.ts";
import { type Access, READ } from "../../../http/route-terms.ts";
import { splitBulkRequest } from "../../../hub/submit/message-responses.ts";
import { SUBMISSION_LIMITS } from "../../../hub/submit/submission-check.ts";
import {
  type BulkMessageResponse,
  GetInfoResponse,
  SubmitBulkMessagesResponse,
  ValidationResponse,
} from "../../../protocol/wire/generated/hub.ts";
import { Message } from "../../../protocol/wire/generated/message.ts";
import type { ChargeKey } from "../../../writes/store/write-limits.ts";
import type { Call } from "../../op.ts";
import { chargeFurtherMessages, chargeMessages } from "../writes/write.ts";
import { infoJson } from "./chain-json.ts";
import { messageJson } from "./message-json.ts";
import { hex } from "./names.ts";
import { type HubDeps, hubOp, hubRead, markPartial, type Shown, showReply } from "./operation.ts";
import { closedObject, HubError, HubMessage, openObject } from "./schemas.ts";

/** The content types of a protobuf body; they may have parameters. */
const CONTENT_TYPES = new Set(["application/octet-stream", "application/x-protobuf"]);

const NO_MESSAGE = Message.fromPartial({});

/** The price of a submit of one message; a bulk submit costs 2 more for each additional one. */
const SUBMIT_UNITS = 20;

export const submitOperations = [
  submit({
    id: "hubSubmitMessage",
    path: "/submitMessage",
    summary: "Submits a message. 200 means what OK means over gRPC",
    takes: "A `Message`",
    price: flat(SUBMIT_UNITS),
    response: HubMessage,
    async run({ hub, chargeKey }, { request }) {
      const body = bodyOf(request);
      await chargeSubmit(request, 1, chargeKey);
      return showReply(await hub.submitMessage(body, clientOf(request)), (bytes) => {
        exchangeOf(request).writes += 1;
        return messageJson(Message.decode(bytes));
      });
    },
  }),
  submit({
    id: "hubSubmitBulkMessages",
    path: "/submitBulkMessages",
    summary: "Submits at most 1000 messages. The results are in the order of the request",
    takes: "A `SubmitBulkMessagesRequest`",
    price: flat(SUBMIT_UNITS),
    response: closedObject({ messages: Type.Array(openObject({ hash: Type.String() })) }),
    async run({ hub, chargeKey }, { request }) {
      const body = bodyOf(request);
      const split = splitBulkRequest(body, SUBMISSION_LIMITS.messagesPerRequest);
      await chargeSubmit(request, split.ok ? split.value.length : 0, chargeKey);
      return showReply(await hub.submitBulkMessages(body, clientOf(request)), (bytes) => {
        const { messages } = SubmitBulkMessagesResponse.decode(bytes);
        const isTaken = messages.filter(({ response }) => response?.$case === "message");
        exchangeOf(request).writes += isTaken.length;
        return { messages: messages.map(bulkResultJson) };
      });
    },
  }),
  submit({
    id: "hubValidateMessage",
    path: "/validateMessage",
    summary: "Checks a message or a frame action as a submit would, and stores nothing",
    takes: "A `Message`",
    access: READ,
    response: closedObject({ valid: Type.Boolean(), message: HubMessage }),
    run: async ({ hub }, { request }) =>
      showReply(await hub.validateMessage(bodyOf(request), clientOf(request)), (bytes) => {
        const { valid, message } = ValidationResponse.decode(bytes);
        return { valid, message: messageJson(message ?? NO_MESSAGE) };
      }),
  }),
  hubRead({
    id: "hubInfo",
    path: "/info",
    cache: undefined,
    query: {},
    summary: "The node: its shards and what they hold",
    response: openObject({ version: Type.String(), numShards: Type.Integer() }),
    run: async ({ reads, hub }, { set }) => {
      markPartial(reads, set);
      const reply = await hub.getInfo();
      return showReply(reply, (bytes) => infoJson(GetInfoResponse.decode(bytes), !reads.isFilled()));
    },
  }),
  hubRead({
    id: "hubCurrentPeers",
    path: "/currentPeers",
    cache: undefined,
    query: {},
    summary: "Always empty: the node takes no part in gossip",
    response: closedObject({ contacts: Type.Array(Type.Unknown()), peers: Type.Array(Type.Unknown()) }),
    // The node does not take part in gossip.
    run: () => ({ contacts: [], peers: [] }),
  }),
];

function bulkResultJson({ response }: BulkMessageResponse): object {
  if (response?.$case !== "messageError") return messageJson(response?.value ?? NO_MESSAGE);
  const { hash, errCode, message } = response.value;
  return { hash: hex(hash), errCode, message };
}

/** Returns the body of a request, read within the limit of its path. */
function bodyOf(request: Request): Uint8Array {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== undefined && !CONTENT_TYPES.has(type))
    throw badRequest(`content-type must be one of ${[...CONTENT_TYPES].join(", ")}`);
  return rawBody(request);
}

const clientOf = (request: Request) => clientKeyOf(exchangeOf(request));

/** Charges a submit for its messages. */
async function chargeSubmit(request: Request, messages: number, chargeKey: ChargeKey): Promise<void> {
  const exchange = exchangeOf(request);
  chargeFurtherMessages(exchange, messages);
  await chargeMessages(exchange, messages, chargeKey);
}

/** Declares a request with a protobuf body. */
function submit({
  takes,
  response,
  ...spec
}: {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  /** Describes the body in words. */
  readonly takes: string;
  readonly response: TSchema;
  readonly access?: Access;
  readonly price?: Price;
  readonly run: (deps: HubDeps, call: Call) => Promise<Shown>;
}) {
  const content = (schema: TSchema) => ({ "application/json": { schema } });
  const error = (description: string) => ({ description, content: content(HubError) });
  return hubOp({
    access: { kind: "anonymousOrKey", scope: "write" },
    ...spec,
    method: "POST",
    response,
    parse: () => captureBody,
    // Elysia's types follow OpenAPI 3.0; the document is 3.1.
    document: (detail) =>
      ({
        ...detail,
        requestBody: {
          required: true,
          description: `${takes} of the protocol, in protobuf`,
          content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
        },
        responses: {
          200: { description: "Success", content: content(response) },
          400: error("The message is refused"),
          413: error("The body is too large"),
          429: error("Too many requests"),
          500: error("Internal error"),
          503: error("The node or its upstream cannot take messages now"),
        },
      }) as unknown as DocumentDecoration,
  });
}
