import type { Admission } from "../admission/admission.ts";
import type { Config } from "../config/schema.ts";
import type { Common } from "../runtime/common.ts";
import { type Descriptors, processDescriptors } from "../runtime/process.ts";
import { createStreamSlots } from "../stream/slots.ts";

/** The limits of long-lived connections. */
export interface ConnectionCaps {
  readonly streams: number;
  readonly subscribers: number;
  /** Whether the process has too few descriptors for the limits of the settings. */
  readonly isLowered: boolean;
}

/**
 * Returns the limits. Streams of events and of hub events may take half of the descriptors at which connections are refused, so that
 * other clients can still connect. If the settings allow more, both limits are lowered in proportion.
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

/** Creates the slots of streams, as many as the process's file descriptors allow. */
export function openStreamSlots(
  { config, log }: Pick<Common, "config" | "log">,
  { budgets }: Pick<Admission, "budgets">,
  lagSecs: () => number,
): ReturnType<typeof createStreamSlots> {
  const descriptors = processDescriptors();
  const { streams: connections, subscribers, isLowered } = connectionCaps(config, descriptors);
  if (isLowered)
    log.warn(
      { streams: connections, subscribers },
      "The limit of open files is low: fewer streams are accepted than the settings allow",
    );
  const limits = {
    get connections() {
      return connectionCaps(config, descriptors).streams;
    },
    get connectionsPerAddress() {
      return config.stream.max_connections_per_ip;
    },
  };
  return createStreamSlots(limits, budgets, lagSecs);
}
