import { type ServiceError, status } from "@grpc/grpc-js";

/** What `upstream.url` leads to is no Farcaster node that can be followed. The message says why and names no address. */
export class PeerError extends Error {
  override name = "PeerError";

  constructor(reason: string) {
    super(`upstream.url does not lead to a Farcaster node that can be followed: ${reason}`);
  }
}

const HTTP_STATUS = /^Received HTTP status code ([1-4]\d\d)$/;
/** These a proxy answers in passing. */
const PASSING_HTTP_STATUSES: readonly string[] = ["408", "425", "429"];
/** What the HTTP/2 layer says of bytes that are no HTTP/2. */
const NO_HTTP2 = /\bProtocol error\b/;
const NO_GRPC_STATUS = /Call ended without gRPC status/;
/** What comes of any other body that is read as an answer of a few hundred bytes. */
const NO_INFO = /Received message larger than max|message parsing error/;
const HINT = "the gRPC port of a node is 3383 unless its operator chose another";

/** What a fault of a call says of the peer, where it says that it is no Farcaster node; undefined for any other fault. */
export function peerErrorOf(method: string, cause: unknown): PeerError | undefined {
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  const { code, details = cause.message } = cause as ServiceError;
  const httpStatus = HTTP_STATUS.exec(details)?.[1];
  if (httpStatus !== undefined) {
    if (PASSING_HTTP_STATUSES.includes(httpStatus)) return undefined;
    return new PeerError(`it answers HTTP (status ${httpStatus}) and no gRPC; ${HINT}`);
  }
  if (code === status.UNIMPLEMENTED) return new PeerError(lackOf(method));
  const isNoInfo = method === "getInfo" && NO_INFO.test(details);
  if (isNoInfo || (code === status.INTERNAL && NO_GRPC_STATUS.test(details)))
    return new PeerError(`it answers HTTP and no gRPC; ${HINT}`);
  if (code === status.UNAUTHENTICATED)
    return new PeerError(
      `it requires a login for ${rpcName(method)} (UNAUTHENTICATED); reads are sent without one`,
    );
  if (code === status.DEADLINE_EXCEEDED && method === "getInfo")
    return new PeerError(`it does not respond (GetInfo timed out); ${HINT}`);
  if (code === status.UNAVAILABLE && NO_HTTP2.test(details))
    return new PeerError(`it does not speak HTTP/2, and so no gRPC; ${HINT}`);
  return undefined;
}

function lackOf(method: string): string {
  switch (method) {
    case "getInfo":
      return `it speaks gRPC and serves no HubService (GetInfo is unimplemented); ${HINT}`;
    case "getBlocks":
      return "it does not serve GetBlocks, from which keys and lends come; a node that follows nobody has no blocks";
    default:
      return `it does not serve ${rpcName(method)}`;
  }
}

function rpcName(method: string): string {
  return method.charAt(0).toUpperCase() + method.slice(1);
}
