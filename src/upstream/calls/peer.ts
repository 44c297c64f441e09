import { type ServiceError, status } from "@grpc/grpc-js";
import { reasonOf } from "../../lib/failure.ts";
import { printable } from "../../lib/text.ts";

/**
 * Thrown if `upstream.url` does not lead to a Farcaster node that can be followed. The message says why and contains no
 * address.
 */
export class PeerError extends Error {
  override name = "PeerError";
  /** The message without its first half. */
  readonly reason: string;

  constructor(reason: string) {
    super(`upstream.url does not lead to a Farcaster node that can be followed: ${reason}`);
    this.reason = reason;
  }
}

/** Thrown if the peer accepts connections but does not respond: a wrong port, or a node that is overloaded or starting. */
export class SilentPeerError extends PeerError {
  override name = "SilentPeerError";
}

/** Thrown if the peer does not serve a method. */
export class UnservedError extends PeerError {
  override name = "UnservedError";
}

/** Thrown if the peer serves no blocks of shard 0. */
export class NoBlocksError extends PeerError {
  override name = "NoBlocksError";
}

/**
 * Thrown if the peer reports something that no node can have. The connection is not at fault, and another call gets the same
 * response.
 */
export class MalformedError extends PeerError {
  override name = "MalformedError";

  constructor(reason: string) {
    super(reason);
    this.message = `the upstream ${reason}`;
  }
}

const HTTP_STATUS = /^Received HTTP status code ([1-4]\d\d)$/;
/** Temporary statuses of a proxy. */
const TEMPORARY_HTTP_STATUSES: readonly string[] = ["408", "425", "429"];
/** The error of the HTTP/2 layer for bytes that are not HTTP/2. */
const NO_HTTP2 = /\bProtocol error\b/;
const NO_GRPC_STATUS = /Call ended without gRPC status/;
/** Errors of a body that cannot be a gRPC response of a few hundred bytes. */
const NO_INFO = /Received message larger than max|message parsing error/;
const HINT = "the gRPC port of a node is 3383 unless its operator chose another";

/**
 * Returns the PeerError if an error of a call shows that the peer is not a Farcaster node, otherwise undefined.
 *
 * A peer is known by its first response, and to serve a method by the first response to it: later errors of that kind are
 * faults of the connection, such as a stream that a paused machine ended without a status.
 *
 * @param responded the methods to which the peer has responded.
 */
export function peerErrorOf(
  method: string,
  cause: unknown,
  responded: ReadonlySet<string> = NONE,
): PeerError | undefined {
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  const fault = cause as ServiceError;
  const ofProtocol = protocolErrorOf(method, fault);
  if (ofProtocol) return responded.size === 0 ? ofProtocol : undefined;
  return responded.has(method) ? undefined : methodErrorOf(method, fault);
}

const NONE: ReadonlySet<string> = new Set();

/** Returns an error if the peer does not speak the protocol. */
function protocolErrorOf(method: string, fault: ServiceError): PeerError | undefined {
  const { code, details = fault.message } = fault;
  const httpStatus = HTTP_STATUS.exec(details)?.[1];
  if (httpStatus !== undefined) {
    if (TEMPORARY_HTTP_STATUSES.includes(httpStatus)) return undefined;
    return new PeerError(`it responds with HTTP status ${httpStatus} and not with gRPC; ${HINT}`);
  }
  const isNoInfo = method === "getInfo" && NO_INFO.test(details);
  if (isNoInfo || (code === status.INTERNAL && NO_GRPC_STATUS.test(details)))
    return new PeerError(`it responds with HTTP and not with gRPC; ${HINT}`);
  if (code === status.DEADLINE_EXCEEDED && method === "getInfo")
    return new SilentPeerError(`it does not respond (GetInfo timed out); ${HINT}`);
  if (code === status.UNAVAILABLE && NO_HTTP2.test(details))
    return new PeerError(`it does not support HTTP/2, which gRPC needs; ${HINT}`);
  return undefined;
}

/** Returns an error if the peer refuses a method. */
function methodErrorOf(method: string, { code }: ServiceError): PeerError | undefined {
  if (code === status.UNIMPLEMENTED)
    return new (method === "getBlocks" ? NoBlocksError : UnservedError)(missingMethod(method));
  if (code === status.UNAUTHENTICATED)
    return new PeerError(
      `it requires a login for ${rpcName(method)} (UNAUTHENTICATED); reads are sent without one`,
    );
  return undefined;
}

const UNKNOWN_HOST = /Name resolution failed for target dns:(?:\/*)(.+?)(?::\d+)?$/;

/**
 * Returns the reason of a failed call for an operator, on one line and without the wording of the gRPC library. The peer may
 * have written it.
 */
export function reasonOfCall(cause: unknown): string {
  const reason = reasonOf(cause);
  const [, host] = UNKNOWN_HOST.exec(reason) ?? [];
  if (host !== undefined) return `the name ${printable(host)} is not known to DNS`;
  const [, inner] = /Last error: (?:Error: )?(.*?)\.? ?Resolution note:/.exec(reason) ?? [];
  return printable(inner ?? reason.replace(/^\d+ ([A-Z_]+): /, "$1: "));
}

function missingMethod(method: string): string {
  switch (method) {
    case "getInfo":
      return `it supports gRPC but serves no HubService (GetInfo is unimplemented); ${HINT}`;
    case "getBlocks":
      return "it does not serve GetBlocks, the source of keys and lends";
    default:
      return `it does not serve ${rpcName(method)}`;
  }
}

function rpcName(method: string): string {
  return method.charAt(0).toUpperCase() + method.slice(1);
}

/**
 * Thrown for blocks that the upstream no longer serves, or serves incompletely. The fids that they concern must be read
 * again.
 */
export class GapError extends Error {
  override name = "GapError";

  constructor(
    readonly shard: number,
    /** First and last missing block, inclusive. */
    readonly from: number,
    readonly to: number,
  ) {
    super(`shard ${shard}: blocks ${from} to ${to} are not available`);
  }
}
