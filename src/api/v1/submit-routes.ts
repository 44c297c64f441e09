import { type TSchema, Type } from "@sinclair/typebox";
import { type DocumentDecoration, Elysia } from "elysia";
import { captureBody, rawBody } from "../../http/body.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { badRequest } from "../../http/params.ts";
import { type Access, READ, type RouteTermsHook } from "../../http/route-terms.ts";
import { splitBulkRequest } from "../../hub/message-responses.ts";
import type { HubRpc } from "../../hub/rpc.ts";
import { SUBMISSION_LIMITS } from "../../hub/submission-check.ts";
import {
  type BulkMessageResponse,
  GetInfoResponse,
  SubmitBulkMessagesResponse,
  ValidationResponse,
} from "../../protocol/wire/generated/hub.ts";
import { Message } from "../../protocol/wire/generated/message.ts";
import type { HubReads } from "../../read/hub/hub-reads.ts";
import type { ChargeKey } from "../../writes/limits/write-limits.ts";
import { chargeFurtherMessages, chargeMessages } from "../shared/write-limits.ts";
import { infoJson } from "./chain-json.ts";
import { hubRead } from "./hub-operation.ts";
import { hex, messageJson } from "./message-json.ts";
import { type Shown, showReply } from "./responses.ts";
import { closedObject, HubError, HubMessage, openObject } from "./schemas.ts";

/** The types of a body of protobuf, with any parameters. */
const CONTENT_TYPES = new Set(["application/octet-stream", "application/x-protobuf"]);

/** Dependencies of the routes that submit. */
export interface SubmitDeps {
  readonly hub: HubRpc;
  readonly reads: HubReads;
  readonly chargeKey: ChargeKey;
}

/** The routes of submitting and validating messages, and of the node itself. The hub's thread does the work. */
export function submitRoutes({ hub, reads, chargeKey }: SubmitDeps) {
  /** Charges a submit for its messages. */
  async function charge(request: Request, messages: number): Promise<void> {
    const exchange = exchangeOf(request);
    chargeFurtherMessages(exchange, messages);
    await chargeMessages(exchange, messages, chargeKey);
  }

  return new Elysia({ name: "hub-submits" })
    .post(
      "/submitMessage",
      async ({ request }): Promise<Shown> => {
        const body = bodyOf(request);
        await charge(request, 1);
        return showReply(await hub.submitMessage(body), (bytes) => {
          exchangeOf(request).writes += 1;
          return messageJson(Message.decode(bytes));
        });
      },
      submit(
        "SubmitMessage",
        "Submits a message. 200 means what OK means over gRPC",
        "A `Message`",
        HubMessage,
      ),
    )
    .post(
      "/submitBulkMessages",
      async ({ request }): Promise<Shown> => {
        const body = bodyOf(request);
        const split = splitBulkRequest(body, SUBMISSION_LIMITS.messagesPerRequest);
        await charge(request, split.ok ? split.value.length : 0);
        return showReply(await hub.submitBulkMessages(body), (bytes) => {
          const { messages } = SubmitBulkMessagesResponse.decode(bytes);
          const isTaken = messages.filter(({ response }) => response?.$case === "message");
          exchangeOf(request).writes += isTaken.length;
          return { messages: messages.map(bulkResultJson) };
        });
      },
      submit(
        "SubmitBulkMessages",
        "Submits at most 1000 messages. The results are in the order of the request",
        "A `SubmitBulkMessagesRequest`",
        closedObject({ messages: Type.Array(openObject({ hash: Type.String() })) }),
      ),
    )
    .post(
      "/validateMessage",
      async ({ request }): Promise<Shown> =>
        showReply(await hub.validateMessage(bodyOf(request)), (bytes) => {
          const { valid, message } = ValidationResponse.decode(bytes);
          return { valid, message: messageJson(message ?? NO_MESSAGE) };
        }),
      submit(
        "ValidateMessage",
        "Checks a message or a frame action as a submit would, and stores nothing",
        "A `Message`",
        closedObject({ valid: Type.Boolean(), message: HubMessage }),
        READ,
      ),
    )
    .get(
      "/info",
      async ({ set }): Promise<Shown> => {
        if (reads.isPartial) set.headers["x-partial"] = "fids";
        const reply = await hub.getInfo();
        return showReply(reply, (bytes) => infoJson(GetInfoResponse.decode(bytes), !reads.isFilled()));
      },
      hubRead({
        id: "Info",
        summary: "The node: its shards and what they hold",
        query: {},
        response: openObject({ version: Type.String(), numShards: Type.Integer() }),
        cache: undefined,
      }),
    )
    .get(
      "/currentPeers",
      // The node takes no part in gossip.
      () => ({ contacts: [], peers: [] }),
      hubRead({
        id: "CurrentPeers",
        summary: "Always empty: the node takes no part in gossip",
        query: {},
        response: closedObject({ contacts: Type.Array(Type.Unknown()), peers: Type.Array(Type.Unknown()) }),
        cache: undefined,
      }),
    );
}

const NO_MESSAGE = Message.fromPartial({});

function bulkResultJson({ response }: BulkMessageResponse): object {
  if (response?.$case !== "messageError") return messageJson(response?.value ?? NO_MESSAGE);
  const { hash, errCode, message } = response.value;
  return { hash: hex(hash), errCode, message };
}

/** The body of a request, read within the limit of its path. */
function bodyOf(request: Request): Uint8Array {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== undefined && !CONTENT_TYPES.has(type))
    throw badRequest(`content-type must be one of ${[...CONTENT_TYPES].join(", ")}`);
  return rawBody(request);
}

const content = (schema: TSchema) => ({ "application/json": { schema } });
const binary = { schema: { type: "string", format: "binary" } };

/** Describes a request whose body is protobuf. */
function submit(
  id: string,
  summary: string,
  body: string,
  response: TSchema,
  access: Access = { kind: "anonymousOrKey", scope: "write" },
) {
  const error = (description: string) => ({ description, content: content(HubError) });
  const detail = {
    operationId: `hub${id}`,
    summary,
    tags: ["Hub"],
    requestBody: {
      required: true,
      description: `${body} of the protocol, in protobuf`,
      content: { "application/octet-stream": binary },
    },
    responses: {
      200: { description: "Success", content: content(response) },
      400: error("The message is refused"),
      413: error("The body is too large"),
      429: error("Too many requests"),
      500: error("Internal error"),
      503: error("The node or its upstream cannot take messages now"),
    },
  };
  // Elysia's types follow OpenAPI 3.0; the document is 3.1.
  const terms: RouteTermsHook = { access };
  return { parse: captureBody, detail: detail as unknown as DocumentDecoration, ...terms };
}
