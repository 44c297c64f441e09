import type { Config } from "../config/schema.ts";
import type { Descriptors } from "../runtime/process.ts";

/** The limits of connections that stay open. */
export interface ConnectionCaps {
  readonly streams: number;
  readonly subscribers: number;
  /** Whether the process has too few descriptors for the limits of the settings. */
  readonly isLowered: boolean;
}

/**
 * Streams of events and of hub events may take half of the descriptors at which connections are refused, so that others still connect.
 * Where the settings allow more, both limits are lowered in proportion.
 */
export function connectionCaps(
  { stream, hub }: Pick<Config, "stream" | "hub">,
  descriptors: Pick<Descriptors, "cap"> | undefined,
): ConnectionCaps {
  const wanted = {
    streams: stream.enabled ? stream.max_connections : 0,
    subscribers: hub.reads ? hub.max_subscribers : 0,
  };
  const sum = wanted.streams + wanted.subscribers;
  const half = descriptors ? Math.floor(descriptors.cap / 2) : Number.POSITIVE_INFINITY;
  if (sum <= half) return { ...wanted, isLowered: false };
  const share = (limit: number) => Math.max(Math.min(limit, 1), Math.floor((half * limit) / sum));
  return { streams: share(wanted.streams), subscribers: share(wanted.subscribers), isLowered: true };
}
