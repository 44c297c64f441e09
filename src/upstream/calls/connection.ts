import { Client, connectivityState, credentials } from "@grpc/grpc-js";
import { STRICT_TLS } from "../../net/operator-fetch.ts";
import { programName, version } from "../../version.ts";
import { DEFAULT_TIMINGS, type Timings } from "../timings.ts";

/** The reference node limits requests to 4 MiB and does not limit responses. Larger responses are refused here. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/**
 * Opens a connection to the upstream at the first call and again after each loss. Calls meanwhile fail as
 * UNAVAILABLE. `url` is http (plain) or https (TLS), without path and credentials, as the settings check.
 *
 * @param options.contact how the operator of the called node reaches ours (`upstream.contact`). Default: not said.
 */
export function connectUpstream(
  url: string,
  {
    retryMs = DEFAULT_TIMINGS.retryMs,
    maxRetryMs = DEFAULT_TIMINGS.maxRetryMs,
    contact = "",
  }: Partial<Pick<Timings, "retryMs" | "maxRetryMs">> & { readonly contact?: string } = {},
): Client {
  const { protocol, hostname, port } = new URL(url);
  const isTls = protocol === "https:";
  const security = isTls ? credentials.createSsl(null, null, null, STRICT_TLS) : credentials.createInsecure();
  return new Client(`${hostname}:${port || (isTls ? 443 : 80)}`, security, {
    "grpc.primary_user_agent": `${programName}/${version}${contact === "" ? "" : ` (+${contact})`}`,
    "grpc.max_receive_message_length": MAX_RESPONSE_BYTES,
    // A peer that froze or vanished silently is detected within 15 s.
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 5_000,
    "grpc.initial_reconnect_backoff_ms": retryMs,
    "grpc.max_reconnect_backoff_ms": maxRetryMs,
    // The operator chose the node itself, so neither a proxy of the environment nor a DNS record is used.
    "grpc.enable_http_proxy": 0,
    "grpc.service_config_disable_resolution": 1,
  });
}

/** Whether the connection is open. It is while a call runs on it that the peer has not ended. */
export function isConnected(connection: Client): boolean {
  return connection.getChannel().getConnectivityState(false) === connectivityState.READY;
}
