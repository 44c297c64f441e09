import { Server, ServerCredentials } from "@grpc/grpc-js";
import { Intake } from "./intake.ts";
import { adminService, type HubContext, hubService } from "./service.ts";

/** The reference node's limit for a request. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

export interface HubServer {
  readonly port: number;
  /** Stops accepting, waits for running calls up to `graceMs`, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

/** Serves HubService and AdminService over plaintext gRPC. */
export async function startHubServer(
  context: HubContext,
  listen: { host: string; port: number },
): Promise<HubServer> {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_REQUEST_BYTES,
    "grpc.max_concurrent_streams": 1000,
    // A client that vanished without a word is noticed and its connection freed.
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
  });
  const intake = new Intake(context);
  for (const service of [hubService(context, intake), adminService(context, intake)])
    server.addService(service.definition, service.implementation);
  const port = await bind(server, listen);
  return { port, stop: (graceMs) => stop(server, graceMs) };
}

function bind(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (cause, bound) => {
      if (cause) reject(new Error(`gRPC cannot listen on ${address}: ${cause.message}`));
      else resolve(bound);
    });
  });
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
