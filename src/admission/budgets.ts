import type { BucketLimit } from "./bucket-table.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** How much all clients may hold at once, and how much one may. */
export interface BudgetTerms {
  /** Named in refusals: "too many <unit> …". */
  readonly unit: string;
  readonly total: number;
  readonly perClient: number;
  /** Up to this amount, a client may draw on `reserve` beyond `total`, so that a few clients that take all of it lock out no one else. */
  readonly reservedPerClient?: number;
  /** Default: a quarter of `total`. */
  readonly reserve?: number;
}

/** What all clients may hold, and what a client with little may use beyond it. */
type Room = Pick<BudgetTerms, "total" | "reservedPerClient" | "reserve">;

/** Returns how much all clients may hold together when the client that takes something then holds `own`. */
export function roomFor(own: number, { total, reservedPerClient = 0, reserve }: Room): number {
  return own <= reservedPerClient ? total + (reserve ?? Math.floor(total / 4)) : total;
}

/** Returns the room for long-lived connections if a setting allows `max`: the last fifth is reserved for clients without one. */
export function roomWithin(max: number): Room {
  const reserve = Math.floor(max / 5);
  return { total: max - reserve, reservedPerClient: 1, reserve };
}

/** How many tasks may run and wait at a time, for all clients and for one. */
export interface TurnTerms {
  readonly unit: string;
  readonly running: number;
  readonly waiting: number;
  readonly perClient: { readonly running: number; readonly waiting: number };
}

/**
 * What clients hold at once, counted over all threads. A client is an API key, an IPv4 address or the /64 network of an IPv6 address.
 * Every budget that a few clients could exhaust reserves something for the others.
 */
export const BUDGETS = {
  /** HTTP request bodies, from the arrival of their bytes to the end of the request. */
  httpBodies: {
    unit: "bytes of request bodies",
    total: 64 * MIB,
    perClient: 16 * MIB,
    reservedPerClient: 128 * KIB,
  },
  /** HTTP responses of more than 64 kB, and frames of streams, until the client has received them. */
  unsentBytes: {
    unit: "bytes of responses",
    total: 256 * MIB,
    perClient: 64 * MIB,
    reservedPerClient: MIB,
  },
  /** gRPC requests, from the arrival of their bytes to the end of the call. */
  hubRequests: {
    unit: "bytes of requests",
    total: 64 * MIB,
    perClient: 32 * MIB,
    reservedPerClient: 128 * KIB,
  },
  /** Connections to the gRPC port, also idle ones. Fewer if the process has few file descriptors. */
  hubConnections: { unit: "connections", total: 4096, perClient: 1024, reservedPerClient: 4 },
  /**
   * Connections of trusted proxies to the gRPC port, counted for each client that has calls on them: one client of a proxy that opens a
   * connection for each call would take all of `hubConnections`. A client may have as many as without a proxy.
   */
  hubProxied: { unit: "connections through proxies", total: 16_384, perClient: 1024, reservedPerClient: 4 },
  /** gRPC calls until their streams are closed. A client that reads no response delays that by two minutes. */
  hubCalls: { unit: "calls", total: 8192, perClient: 1024, reservedPerClient: 16 },
  /**
   * Responses of unary gRPC calls, including lists that are still being read, until the client has received them; and whatever else a
   * gRPC connection has sent that its client does not read.
   */
  hubResponses: {
    unit: "bytes of responses",
    total: 256 * MIB,
    perClient: 64 * MIB,
    reservedPerClient: 256 * KIB,
  },
  /** Requests whose body has not arrived; each takes a connection. Fewer if the process has few file descriptors. */
  uploads: {
    unit: "requests whose body is arriving",
    total: 4096,
    perClient: 1024,
    reservedPerClient: 16,
  },
  /**
   * Requests whose body has no Content-Length, until it is read. Bun parses what has arrived before the request can be refused (350 ns
   * per chunk), and buffers at most 1.25 MiB of each while it waits for a busy thread.
   */
  chunkedBodies: {
    unit: "request bodies without a Content-Length",
    total: 64,
    perClient: 8,
    reservedPerClient: 1,
  },
  /**
   * Refusals that are delayed before they are sent, each with its connection (`src/http/limits/late-refusals.ts`). Fewer if the process
   * has few file descriptors.
   */
  lateRefusals: { unit: "refusals that are sent late", total: 16_384, perClient: 8192 },
  /** Blocks and chunks relayed from the upstream; each needs a call to it. */
  blockRelays: { unit: "block relays", total: 8, perClient: 4, reservedPerClient: 1 },
  /** Checks of contract wallets; each is a call to the operator's Optimism RPC. */
  contractChecks: { unit: "checks of contract wallets", total: 8, perClient: 4, reservedPerClient: 1 },
  /** Channels that are opened or looked up at the upstream relay. A client may open 20 at once. */
  relayCalls: { unit: "calls of the upstream relay", total: 96, perClient: 24, reservedPerClient: 4 },
  /** Manifests that are being fetched, of up to 1 MB each. */
  manifestFetches: { unit: "manifests", total: 8, perClient: 2, reservedPerClient: 1 },
  /** Entries in the lists of open streams. Each takes about 300 bytes in the matching thread. */
  streamEntries: { unit: "filter entries", total: 500_000, perClient: 25_000, reservedPerClient: 1_000 },
  /**
   * Regular expressions of open streams, each counted once per client. All clients together may have 250 different ones
   * (`src/stream/slots.ts`).
   */
  streamExpressions: { unit: "regular expressions", total: 4_000, perClient: 10 },
} as const satisfies Readonly<Record<string, BudgetTerms>>;

/**
 * Returns the terms of a process that refuses connections at `descriptorCap` file descriptors. Uploads may take half of them, plus an
 * eighth for clients with few; one client may take an eighth. Late refusals may take a quarter, and those of one client an eighth.
 * Connections to the gRPC port may take a quarter, and those of one client a sixteenth.
 */
export function budgetsWithin(descriptorCap: number): Readonly<Record<BudgetName, BudgetTerms>> {
  const within = (terms: BudgetTerms, descriptors: number): BudgetTerms => {
    const total = Math.min(terms.total, Math.ceil(descriptors));
    return { ...terms, total, perClient: Math.ceil((total * terms.perClient) / terms.total) };
  };
  const hubConnections = within(BUDGETS.hubConnections, descriptorCap / 4);
  return {
    ...BUDGETS,
    uploads: within(BUDGETS.uploads, descriptorCap / 2),
    lateRefusals: within(BUDGETS.lateRefusals, descriptorCap / 4),
    hubConnections,
    hubProxied: { ...BUDGETS.hubProxied, perClient: hubConnections.perClient },
  };
}

export type BudgetName = keyof typeof BUDGETS;

/** What runs in turns, per thread. */
export const TURNS = {
  /** Responses of more than 256 kB that are being assembled. */
  largeResponses: {
    unit: "large responses",
    running: 4,
    waiting: 256,
    perClient: { running: 2, waiting: 64 },
  },
  /** Lists of the hub, over gRPC and `/v1`. If other clients wait, a long queue of one client gives way to theirs. */
  hubLists: { unit: "lists", running: 16, waiting: 512, perClient: { running: 4, waiting: 512 } },
  /** Pages of snapshots for nodes that fill their index from this node. */
  snapshotPages: {
    unit: "pages of snapshots",
    running: 1,
    waiting: 64,
    perClient: { running: 1, waiting: 16 },
  },
  /** Requests with several messages whose signatures are being checked, a few milliseconds at a time. */
  bulkChecks: { unit: "bulk requests", running: 2, waiting: 512, perClient: { running: 1, waiting: 256 } },
  /** MCP requests. */
  mcpRequests: { unit: "requests of MCP", running: 32, waiting: 256, perClient: { running: 4, waiting: 16 } },
  /** Messages waiting for a response of the Ethereum RPC. */
  chainChecks: { unit: "messages", running: 8, waiting: 100, perClient: { running: 4, waiting: 50 } },
} as const satisfies Readonly<Record<string, TurnTerms>>;

/** Requests waiting for their turn on a busy thread, per thread. */
export const WAITING_REQUESTS = {
  unit: "requests",
  total: 4096,
  perClient: 1024,
  reservedPerClient: 16,
} as const satisfies BudgetTerms;

/**
 * Token buckets by client, counted over all threads: the number of clients with a bucket of their own, a power of two. The larger ones
 * are twice the guideline for the highest number of keys and addresses in a day, so clients rarely displace each other.
 */
export const BUCKETS = {
  keys: 65_536,
  addresses: 65_536,
  unknownKeys: 8_192,
  signedReads: 8_192,
  signedChanges: 8_192,
  newSessions: 8_192,
  signIns: 8_192,
  contractChecks: 8_192,
  contractRefusals: 8_192,
  relayPolls: 8_192,
  chainReads: 8_192,
  opens: 8_192,
  manifestChecks: 8_192,
  channels: 8_192,
  discards: 8_192,
  chunks: 8_192,
  refusals: 8_192,
} as const;

export type BucketsName = keyof typeof BUCKETS;

/**
 * What one client may spend unless a setting says otherwise. Signed requests are counted before their signature is verified, by the
 * address that sent them: if they were counted by fid, strangers could lock an owner out.
 */
export const SHARES = {
  /** API keys that the node does not know. */
  unknownKeys: { perMinute: 20, burst: 20 },
  /** Signed requests that change nothing. A page of the console sends a few at once and repeats them. */
  signedReads: { perMinute: 600, burst: 300 },
  signedChanges: { perMinute: 60, burst: 300 },
  /** Each adds to the audit log, and ends the oldest session beyond 20. */
  newSessions: { perMinute: 20, burst: 60 },
  /** Nonces and messages of sign-ins. Everyone in an office shares an address. */
  signIns: { perMinute: 120, burst: 120 },
  /** Reports that a notification was opened. Everyone in an office shares an address. */
  opens: { perMinute: 120, burst: 120 },
  /** Calls to the operator's Optimism RPC. */
  contractChecks: { perMinute: 10, burst: 10 },
  /** Reads without an API key that call the operator's Base RPC. */
  chainReads: { perMinute: 20, burst: 20 },
  /** Manifests that are fetched for a client. */
  manifestChecks: { perMinute: 6, burst: 6 },
  /** Web sign-in channels; each is a row for ten minutes. */
  channels: { perMinute: 20, burst: 20 },
  /** KiB of refused bodies that are still read, so that their sender gets the error instead of a reset. */
  discards: { perMinute: 16_384, burst: 4_096 },
  /** KiB of bodies without a Content-Length; the burst exceeds the largest body. In chunks of one byte, each KiB takes 0.36 ms of CPU. */
  chunks: { perMinute: 4_096, burst: 5_120 },
  /** Responses with 429, and refusals of unread bodies, that are sent without delay. */
  refusals: { perMinute: 300, burst: 100 },
} as const satisfies Partial<Readonly<Record<BucketsName, BucketLimit>>>;

/** Calls to the operator's RPC that did not confirm a sign-in, of all clients: per address that they name, and in total. */
export const CONTRACT_REFUSALS = {
  ofAddress: { perMinute: 30, burst: 30 },
  ofAll: { perMinute: 300, burst: 300 },
} as const;

export type ShareName = keyof typeof SHARES;

/** Seconds after which a refused client may find room, for `Retry-After`. */
export const RETRY_AFTER_SECS = 2;

/** Returns the error text for a refused client. */
export function refusalText(unit: string, shortage: "client" | "total"): string {
  return `too many ${unit}${shortage === "client" ? " of this client" : ""} are in flight; try again`;
}
