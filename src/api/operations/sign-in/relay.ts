import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../../../http/exchange.ts";
import { OPEN } from "../../../http/route-terms.ts";
import { NO_ISSUER } from "../../../sign-in/quick-auth.ts";
import type { Channel, Channels, Completion } from "../../../sign-in/relay/channels.ts";
import { signInError } from "../../../sign-in/sign-in-error.ts";
import { object } from "../../dialects/fields.ts";
import { type Call, operationsOf } from "../../op.ts";

/** The dependencies of the relay's operations. */
export interface RelayDeps {
  readonly dialect?: undefined;
  readonly channels: Channels;
}

const RelayError = object({
  error: Type.String(),
  message: Type.String(),
  reason: Type.Optional(Type.String()),
});

const { op } = operationsOf<RelayDeps>({ surface: "relay", tag: "Relay", errorResponse: RelayError });

const url = (description: string) => Type.String({ minLength: 1, maxLength: 2048, description });
const OpenRequest = object({
  siweUri: url("What the user signs in to"),
  domain: Type.String({ minLength: 1, maxLength: 255 }),
  nonce: Type.Optional(Type.String({ pattern: "^[a-zA-Z0-9]{8,64}$" })),
  notBefore: Type.Optional(Type.String({ maxLength: 64 })),
  expirationTime: Type.Optional(Type.String({ maxLength: 64 })),
  requestId: Type.Optional(Type.String({ maxLength: 255, pattern: "^[!-~]*$" })),
  redirectUrl: Type.Optional(url("Where the user goes from the page")),
  acceptAuthAddress: Type.Optional(Type.Boolean()),
});
const OpenResponse = object({
  channelToken: Type.String(),
  url: Type.String(),
  connectUri: Type.String(),
  nonce: Type.String(),
});
const AuthenticateRequest = Type.Object({
  message: Type.String({ maxLength: 16_384 }),
  signature: Type.String({ maxLength: 20_000 }),
  fid: Type.Optional(Type.Integer({ minimum: 0 })),
});
const optionalText = Type.Optional(Type.String());
const StatusResponse = Type.Object({
  state: Type.Union([Type.Literal("pending"), Type.Literal("completed")]),
  nonce: Type.String(),
  url: Type.String(),
  signatureParams: Type.Object({
    siweUri: Type.String(),
    domain: Type.String(),
    nonce: optionalText,
    notBefore: optionalText,
    expirationTime: optionalText,
    requestId: optionalText,
    redirectUrl: optionalText,
  }),
  metadata: Type.Object({ ip: optionalText, userAgent: Type.String() }),
  acceptAuthAddress: Type.Boolean(),
  message: optionalText,
  signature: optionalText,
  authMethod: Type.Optional(Type.Union([Type.Literal("custody"), Type.Literal("authAddress")])),
  fid: Type.Optional(Type.Integer()),
  username: optionalText,
  displayName: optionalText,
  bio: optionalText,
  pfpUrl: optionalText,
  verifications: Type.Optional(Type.Array(Type.String())),
  custody: optionalText,
  token: Type.Optional(Type.String({ description: "Of Quick Auth, for `domain`" })),
});

const UNKNOWN = "unknown or expired channel";
/** The relay protocol of auth-client and AuthKit. No key is required, and the approver is not trusted. */
export const relayOperations = [
  op({
    id: "relayOpenChannel",
    method: "POST",
    path: "/channel",
    summary: "Open a channel on which a user signs in",
    access: OPEN,
    share: "channels",
    body: OpenRequest,
    response: { 201: OpenResponse },
    errors: ["tooManyRequests", "unavailable", "badGateway"],
    notImplemented: { when: "Where the URL of this server is not known.", message: NO_ISSUER },
    run: async ({ channels }, { body, request, set }) => {
      const { acceptAuthAddress = true, ...params } = body;
      const exchange = exchangeOf(request);
      const opened = await channels.open(
        { ...params, acceptAuthAddress },
        { ip: exchange.client().address, userAgent: request.headers.get("user-agent") ?? "" },
        clientKeyOf(exchange),
      );
      if (opened.ok) {
        const { token, url: link, nonce } = opened.value;
        set.status = 201;
        return { channelToken: token, url: link, connectUri: link, nonce };
      }
      switch (opened.error.kind) {
        case "field":
          throw new ApiError("badRequest", opened.error.message);
        case "upstream":
          throw new ApiError("badGateway", "the upstream relay opened no channel");
        case "no-url":
          throw new ApiError("notImplemented", NO_ISSUER);
      }
    },
  }),
  op({
    id: "relayChannelStatus",
    path: "/channel/status",
    summary: "The state of a channel: 202 while it waits, 200 once, with who signed in",
    access: OPEN,
    response: { 200: StatusResponse, 202: StatusResponse },
    errors: ["unauthorized", "tooManyRequests"],
    run: async ({ channels }, { request, set }) => {
      const token = tokenOf(request);
      const found = await channels.find(token, clientKeyOf(exchangeOf(request)));
      if (!found) throw new ApiError("unauthorized", UNKNOWN);
      const { channel, completion } = found;
      if (completion && !(await channels.end(token))) throw new ApiError("unauthorized", UNKNOWN);
      set.status = completion ? 200 : 202;
      return statusOf(channels, token, { channel, completion }, request);
    },
  }),
  op({
    id: "relayAuthenticate",
    method: "POST",
    path: "/channel/authenticate",
    summary: "Complete a channel by a signed message",
    description:
      "The message is verified for the channel, and nothing else of the body counts. A refusal changes nothing.",
    access: OPEN,
    share: "signIns",
    body: AuthenticateRequest,
    response: { 201: StatusResponse },
    errors: ["unauthorized", "conflict", "tooManyRequests", "unavailable"],
    run: async ({ channels }, { body, request, set }) => {
      const token = tokenOf(request);
      const completed = await channels.authenticate(token, body, clientKeyOf(exchangeOf(request)));
      if (!completed.ok) {
        const { error } = completed;
        if (error.kind === "unknown") throw new ApiError("unauthorized", UNKNOWN);
        if (error.kind === "completed") throw new ApiError("conflict", "the channel is completed");
        throw signInError(error, "unauthorized");
      }
      set.status = 201;
      return statusOf(channels, token, completed.value, request);
    },
  }),
];

/** @throws ApiError `unauthorized` */
function tokenOf(request: Call["request"]): string {
  const [, token] = /^Bearer ([^\s]{1,128})$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined) throw new ApiError("unauthorized", "missing channel token", { scheme: "Bearer" });
  return token;
}

/** Shown only to the address that opened the channel. */
function statusOf(
  channels: Channels,
  token: string,
  { channel, completion }: { readonly channel: Channel; readonly completion?: Completion | undefined },
  request: Call["request"],
) {
  const { acceptAuthAddress, ...signatureParams } = channel.params;
  const isOpener = exchangeOf(request).client().address === channel.ip;
  return {
    state: completion ? "completed" : "pending",
    nonce: channel.params.nonce,
    url: channels.urlOf(token, channel),
    signatureParams,
    metadata: { ...(isOpener ? { ip: channel.ip } : {}), userAgent: channel.userAgent },
    acceptAuthAddress,
    ...completion,
  };
}
