import { REGEX_FIELDS } from "../webhooks/match/event-keys.ts";
import type { Subscription } from "../webhooks/subscription.ts";

/** What a subscription takes of the process. */
export interface SubscriptionCost {
  /** Its regular expressions. */
  readonly expressions: readonly string[];
  /** Entries of its lists. */
  readonly entries: number;
}

export type Transport = "sse" | "websocket";

/** Which limit has no room: of all connections, of the client's, of distinct expressions, of all entries, of the client's. */
export type SlotRefusal = "connections" | "address" | "expressions" | "entries" | "address entries";

export type SlotAnswer =
  | { readonly slot: number; readonly lagSecs: number }
  | { readonly refused: SlotRefusal };

export interface StreamSlotLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
}

/** The streams of all HTTP workers, which the main thread counts. */
export interface StreamSlots {
  take(request: {
    readonly address: string;
    readonly transport: Transport;
    readonly cost: SubscriptionCost;
  }): SlotAnswer;
  /** Changes the subscription of a stream. Returns the limit that has no room for it; then nothing changes. */
  change(slot: number, cost: SubscriptionCost): SlotRefusal | undefined;
  release(slot: number): void;
}

export interface StreamSlotStats {
  readonly connections: Readonly<Record<Transport, number>>;
  readonly addresses: number;
  readonly expressions: number;
  readonly maxConnections: number;
}

/** Distinct expressions of all streams. Each is matched against every event, alone or with others. */
const MAX_EXPRESSIONS = 200;
/** An entry takes about 300 bytes of the matching thread. */
const MAX_ENTRIES = 500_000;
const MAX_ENTRIES_PER_ADDRESS = 100_000;

interface Slot {
  readonly address: string;
  readonly transport: Transport;
  cost: SubscriptionCost;
}

/** Returns what a subscription takes. */
export function costOf(subscription: Subscription): SubscriptionCost {
  const expressions = new Set<string>();
  let entries = 0;
  for (const filter of Object.values(subscription) as Readonly<Record<string, unknown>>[]) {
    for (const [field, value] of Object.entries(filter)) {
      if (Array.isArray(value)) entries += value.length;
      else if ((REGEX_FIELDS as readonly string[]).includes(field)) expressions.add(String(value));
    }
  }
  return { expressions: [...expressions], entries };
}

/** @param lagSecs How far the index is behind the followed node; 0 without one. */
export function createStreamSlots(
  limits: StreamSlotLimits,
  lagSecs: () => number,
): StreamSlots & { stats(): StreamSlotStats } {
  const slots = new Map<number, Slot>();
  const byAddress = new Map<string, { connections: number; entries: number }>();
  const byExpression = new Map<string, number>();
  let entries = 0;
  let nextSlot = 1;

  function refusalOf(address: string, cost: SubscriptionCost): SlotRefusal | undefined {
    const added = cost.expressions.filter((expression) => !byExpression.has(expression)).length;
    if (byExpression.size + added > MAX_EXPRESSIONS && added > 0) return "expressions";
    const own = byAddress.get(address)?.entries ?? 0;
    if (cost.entries > 0 && own + cost.entries > MAX_ENTRIES_PER_ADDRESS) return "address entries";
    if (cost.entries > 0 && entries + cost.entries > MAX_ENTRIES) return "entries";
    return undefined;
  }

  function add({ address, cost }: Slot): void {
    const own = byAddress.get(address) ?? { connections: 0, entries: 0 };
    byAddress.set(address, {
      connections: own.connections + 1,
      entries: own.entries + cost.entries,
    });
    entries += cost.entries;
    for (const expression of cost.expressions)
      byExpression.set(expression, (byExpression.get(expression) ?? 0) + 1);
  }

  function subtract({ address, cost }: Slot): void {
    const own = byAddress.get(address);
    if (own && own.connections > 1)
      byAddress.set(address, { connections: own.connections - 1, entries: own.entries - cost.entries });
    else byAddress.delete(address);
    entries -= cost.entries;
    for (const expression of cost.expressions) {
      const users = (byExpression.get(expression) ?? 1) - 1;
      if (users > 0) byExpression.set(expression, users);
      else byExpression.delete(expression);
    }
  }

  return {
    take(request) {
      const { address, cost } = request;
      if (slots.size >= limits.connections) return { refused: "connections" };
      if ((byAddress.get(address)?.connections ?? 0) >= limits.connectionsPerAddress)
        return { refused: "address" };
      const refused = refusalOf(address, cost);
      if (refused) return { refused };
      const slot = nextSlot++;
      slots.set(slot, { ...request });
      add(request);
      return { slot, lagSecs: lagSecs() };
    },

    change(slot, cost) {
      const held = slots.get(slot);
      if (!held) return undefined;
      subtract(held);
      const refused = refusalOf(held.address, cost);
      if (!refused) held.cost = cost;
      add(held);
      return refused;
    },

    release(slot) {
      const held = slots.get(slot);
      if (!held) return;
      slots.delete(slot);
      subtract(held);
    },

    stats() {
      const all = [...slots.values()];
      const count = (transport: Transport) => all.filter((slot) => slot.transport === transport).length;
      return {
        connections: { sse: count("sse"), websocket: count("websocket") },
        addresses: byAddress.size,
        expressions: byExpression.size,
        maxConnections: limits.connections,
      };
    },
  };
}
