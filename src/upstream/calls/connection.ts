import {
  type CallOptions,
  Client,
  connectivityState,
  credentials,
  Metadata,
  type status,
} from "@grpc/grpc-js";
import { STRICT_TLS } from "../../net/operator-fetch.ts";
import { HubServiceService } from "../../protocol/wire/generated/hub.ts";
import { programName, version } from "../../version.ts";
import { DEFAULT_TIMINGS, type Timings } from "../timings.ts";
import type { CallRate } from "./call-rate.ts";
import { BoundedReader } from "./decode/bounded-reader.ts";
import { type HandshakeTimer, handshakeTimer, limitHandshake } from "./handshake-limit.ts";
import { peerErrorOf } from "./peer.ts";
import { ResponseStream } from "./response-stream.ts";

/** The reference node limits requests to 4 MiB and does not limit responses. Larger responses are refused here. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** The time that gRPC allows for a connection by default. */
const HANDSHAKE_MS = 20_000;

/**
 * Opens a connection to the upstream on the first call, and again after each loss. Calls meanwhile fail as UNAVAILABLE.
 * `url` is http (plain) or https (TLS), without path and credentials, as the settings check.
 *
 * @param options.address the host's address, if it was looked up before: no other address is called.
 * @param options.contact how the operator of the called node can reach this node's operator (`upstream.contact`). Default:
 * not sent.
 * @param options.startTimer how long a new connection may send nothing. Default: 20 seconds.
 */
export function connectUpstream(
  url: string,
  {
    retryMs = DEFAULT_TIMINGS.retryMs,
    maxRetryMs = DEFAULT_TIMINGS.maxRetryMs,
    contact = "",
    address,
    startTimer = handshakeTimer(HANDSHAKE_MS),
  }: Partial<Pick<Timings, "retryMs" | "maxRetryMs">> & {
    readonly contact?: string;
    readonly address?: string | undefined;
    readonly startTimer?: HandshakeTimer;
  } = {},
): Client {
  const { protocol, hostname, port: ownPort } = new URL(url);
  const isTls = protocol === "https:";
  const port = ownPort || (isTls ? 443 : 80);
  const security = isTls ? credentials.createSsl(null, null, null, STRICT_TLS) : credentials.createInsecure();
  const target = address === undefined ? hostname : address.includes(":") ? `[${address}]` : address;
  const limited = limitHandshake(security, startTimer, () => isConnected(client));
  const client = new Client(`${target}:${port}`, limited, {
    ...(address !== undefined && {
      "grpc.default_authority": `${hostname}:${port}`,
      ...(isTls && { "grpc.ssl_target_name_override": hostname }),
    }),
    "grpc.primary_user_agent": `${programName}/${version}${contact === "" ? "" : ` (+${contact})`}`,
    "grpc.max_receive_message_length": MAX_RESPONSE_BYTES,
    // A peer that froze or vanished silently is detected within 15 s.
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 5_000,
    // Otherwise another connection to the same address could be one that is no longer read.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": retryMs,
    "grpc.max_reconnect_backoff_ms": maxRetryMs,
    // The operator chose the node itself, so neither a proxy from the environment nor a DNS record is used.
    "grpc.enable_http_proxy": 0,
    "grpc.service_config_disable_resolution": 1,
  });
  return client;
}

/** Reports whether the connection is open, which it is while a call runs on it that the peer has not ended. */
export function isConnected(connection: Client): boolean {
  return connection.getChannel().getConnectivityState(false) === connectivityState.READY;
}

const REPLICATION_METHODS = ["getShardSnapshotMetadata", "getShardTransactions"] as const;

/** The service of this program's own server keeps its reads separate, so they are not among the generated ones. */
export type UnaryMethod =
  | keyof typeof HubServiceService
  | (typeof REPLICATION_METHODS)[number]
  | "getLinksByTarget"
  | "getCastsByParent"
  | "getTrieMetadataByPrefix"
  | "getConnectedPeers"
  | "getChannelOwner"
  | "getChannelMetadata"
  | "getChannelPin"
  | "getChannelMembers"
  | "getChannelModerations"
  | "getChannelsByFid"
  | "getChannelMembershipsByFid";

function pathOf(method: UnaryMethod): string {
  if (method in HubServiceService) return HubServiceService[method as keyof typeof HubServiceService].path;
  const service = REPLICATION_METHODS.some((one) => one === method) ? "ReplicationService" : "HubService";
  return `/${service}/${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}

/** Encodes and decodes a request or a response. */
export interface Codec<T> {
  encode(value: T): { finish(): Uint8Array };
  decode(reader: BoundedReader): T;
}

/**
 * Makes the calls to one peer. A call that fails or times out throws: a `PeerError` if the failure shows that the peer is
 * not a Farcaster node, which it never does once the peer has responded to that call. Calls are not retried here. All of
 * them end when `signal` aborts.
 */
export class CallTransport {
  readonly #connection: Client;
  readonly #timings: Pick<Timings, "callTimeoutMs" | "stallMs">;
  readonly #signal: AbortSignal;
  /** The methods to which the peer has responded. */
  readonly #responded: Set<string>;
  readonly #rate: CallRate | undefined;

  /**
   * @param shared what all clients of one peer share: the methods to which it has responded, and the call limit; by default
   * nothing.
   */
  constructor(
    connection: Client,
    timings: Pick<Timings, "callTimeoutMs" | "stallMs">,
    signal: AbortSignal,
    { responded = new Set<string>(), rate }: { responded?: Set<string>; rate?: CallRate | undefined } = {},
  ) {
    this.#connection = connection;
    this.#timings = timings;
    this.#signal = signal;
    this.#responded = responded;
    this.#rate = rate;
  }

  /** Returns a transport of the same peer whose calls end when another signal aborts. */
  until(signal: AbortSignal): CallTransport {
    return new CallTransport(this.#connection, this.#timings, signal, {
      responded: this.#responded,
      rate: this.#rate,
    });
  }

  /** Returns the response of a unary call. */
  async unary<Request, Response>(
    method: UnaryMethod,
    { encode }: Codec<Request>,
    request: Request,
    { decode }: Codec<Response>,
    onMetadata?: (metadata: Metadata) => void,
  ): Promise<Response> {
    const signal = this.#signal;
    await this.#rate?.take(signal);
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const options: CallOptions = { deadline: Date.now() + this.#timings.callTimeoutMs };
      const call = this.#connection.makeUnaryRequest<Request, Response>(
        pathOf(method),
        (value) => asBuffer(encode(value).finish()),
        (bytes) => decode(new BoundedReader(bytes)),
        request,
        new Metadata(),
        options,
        (fault, response) => {
          signal.removeEventListener("abort", cancel);
          if (fault) return reject(this.#errorOf(method, fault));
          if (response === undefined) return reject(new Error(`the response of ${method} is empty`));
          this.#responded.add(method);
          resolve(response);
        },
      );
      if (onMetadata) call.on("metadata", onMetadata);
      const cancel = () => call.cancel();
      signal.addEventListener("abort", cancel);
    });
  }

  /** Returns the responses of a streaming call. */
  stream<Request, Response>(
    method: keyof typeof HubServiceService,
    { encode }: Codec<Request>,
    request: Request,
    { decode }: Codec<Response>,
  ): ResponseStream<Response> {
    // A stream is opened at once, but it counts against later calls.
    this.#rate?.delayMs();
    const call = this.#connection.makeServerStreamRequest<Request, Response>(
      HubServiceService[method].path,
      (value) => asBuffer(encode(value).finish()),
      (bytes) => decode(new BoundedReader(bytes)),
      request,
      new Metadata(),
      {},
    );
    return new ResponseStream(call, {
      method,
      stallMs: this.#timings.stallMs,
      signal: this.#signal,
      onResponse: () => this.#responded.add(method),
      errorOf: (cause) => this.#errorOf(method, cause),
    });
  }

  #errorOf(method: string, cause: unknown): unknown {
    this.#rate?.failed(cause);
    return peerErrorOf(method, cause, this.#responded) ?? cause;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reports whether a call failed with a status code. */
export function isCode(cause: unknown, code: status): boolean {
  return cause instanceof Error && "code" in cause && cause.code === code;
}
