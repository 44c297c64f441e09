import type { Admission } from "../admission/admission.ts";
import { Budget, type Hold } from "../admission/budget.ts";
import { roomFor, roomWithin } from "../admission/budgets.ts";
import type { EventSpan } from "../db/index/log/outbox.ts";
import { figureOf, gaugeBy } from "../runtime/figures/figures.ts";
import { REGEX_FIELDS } from "../webhooks/match/event-keys.ts";
import type { Subscription } from "../webhooks/subscription.ts";

/** Resources of the process that a subscription uses. */
export interface SubscriptionCost {
  /** Its regular expressions. */
  readonly expressions: readonly string[];
  /** Number of entries in its lists. */
  readonly entries: number;
}

export type Transport = "sse" | "websocket";

/** The exhausted limit: of connections, expressions or entries, of all clients or of this one. */
export type SlotRefusal =
  | "connections"
  | "address"
  | "expressions"
  | "address expressions"
  | "entries"
  | "address entries";

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
  /** Changes the subscription of a stream. Returns the limit that has no room for it, in which case nothing changes. */
  change(slot: number, cost: SubscriptionCost): SlotRefusal | undefined;
  release(slot: number): void;
}

export interface StreamSlotStats {
  readonly connections: Readonly<Record<Transport, number>>;
  readonly addresses: number;
  readonly expressions: number;
  readonly maxConnections: number;
}

/** Number of different expressions in all streams. Each is matched against every event, by itself or with others. */
const EXPRESSIONS = { total: 200, reservedPerClient: 2 };

interface Slot {
  readonly address: string;
  readonly transport: Transport;
  /** Reserved for the lists of its subscription. */
  readonly entries: Hold;
  readonly connection: Hold;
  expressions: readonly string[];
}

/** The streams of one client that use an expression. */
interface ExpressionUse {
  readonly hold: Hold;
  streams: number;
}

/** Returns the resources that a subscription uses. */
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

/**
 * @param budgets budgets of the matching thread that clients share.
 * @param lagSecs returns how far the index is behind the followed node, in seconds; 0 without one.
 */
export function createStreamSlots(
  limits: StreamSlotLimits,
  budgets: Pick<Admission["budgets"], "streamEntries" | "streamExpressions">,
  lagSecs: () => number,
): StreamSlots & { stats(): StreamSlotStats } {
  const connections = new Budget({
    unit: "streams",
    get total() {
      return roomWithin(limits.connections).total;
    },
    get perClient() {
      return limits.connectionsPerAddress;
    },
    get reserve() {
      return roomWithin(limits.connections).reserve ?? 0;
    },
    reservedPerClient: 1,
  });
  const slots = new Map<number, Slot>();
  /** By expression and address. */
  const uses = new Map<string, Map<string, ExpressionUse>>();
  let nextSlot = 1;

  /** Reserves the resources of a subscription, all or nothing. */
  function add(slot: Slot, cost: SubscriptionCost): SlotRefusal | undefined {
    const added = cost.expressions.filter((expression) => !uses.has(expression)).length;
    if (added > 0 && uses.size + added > maxExpressionsFor(slot.address, cost)) return "expressions";
    const shortage = cost.entries > 0 ? slot.entries.grow(cost.entries) : undefined;
    if (shortage) return shortage === "client" ? "address entries" : "entries";
    for (const expression of cost.expressions) {
      const refused = addExpression(slot, expression);
      if (!refused) continue;
      subtract(slot);
      return refused;
    }
    return undefined;
  }

  function maxExpressionsFor(address: string, { expressions }: SubscriptionCost): number {
    const own = new Set(expressions);
    for (const [expression, byAddress] of uses) if (byAddress.has(address)) own.add(expression);
    return roomFor(own.size, EXPRESSIONS);
  }

  function addExpression(slot: Slot, expression: string): SlotRefusal | undefined {
    const { address } = slot;
    const byAddress = uses.get(expression) ?? new Map<string, ExpressionUse>();
    const use = byAddress.get(address) ?? { hold: budgets.streamExpressions.open(address), streams: 0 };
    const shortage = use.streams === 0 ? use.hold.grow(1) : undefined;
    if (shortage) return shortage === "client" ? "address expressions" : "expressions";
    use.streams += 1;
    uses.set(expression, byAddress.set(address, use));
    slot.expressions = [...slot.expressions, expression];
    return undefined;
  }

  function subtract(slot: Slot): void {
    slot.entries.shrinkTo(0);
    for (const expression of slot.expressions) {
      const byAddress = uses.get(expression);
      const use = byAddress?.get(slot.address);
      if (!byAddress || !use) continue;
      use.streams -= 1;
      if (use.streams > 0) continue;
      use.hold.end();
      byAddress.delete(slot.address);
      if (byAddress.size === 0) uses.delete(expression);
    }
    slot.expressions = [];
  }

  return {
    take({ address, transport, cost }) {
      const slot: Slot = {
        address,
        transport,
        entries: budgets.streamEntries.open(address),
        connection: connections.open(address),
        expressions: [],
      };
      const shortage = slot.connection.grow(1);
      if (shortage) return { refused: shortage === "client" ? "address" : "connections" };
      const refused = add(slot, cost);
      if (refused) {
        slot.connection.end();
        return { refused };
      }
      const id = nextSlot++;
      slots.set(id, slot);
      return { slot: id, lagSecs: lagSecs() };
    },

    change(id, cost) {
      const slot = slots.get(id);
      if (!slot) return undefined;
      const before = { expressions: slot.expressions, entries: slot.entries.amount };
      subtract(slot);
      const refused = add(slot, cost);
      if (refused) add(slot, before);
      return refused;
    },

    release(id) {
      const slot = slots.get(id);
      if (!slot) return;
      slots.delete(id);
      subtract(slot);
      slot.connection.end();
    },

    stats() {
      const all = [...slots.values()];
      const count = (transport: Transport) => all.filter((slot) => slot.transport === transport).length;
      return {
        connections: { sse: count("sse"), websocket: count("websocket") },
        addresses: new Set(all.map(({ address }) => address)).size,
        expressions: uses.size,
        maxConnections: limits.connections,
      };
    },
  };
}

/** Returns the number of streams of all HTTP workers. */
export function openStreams({ connections }: StreamSlotStats): number {
  return Object.values(connections).reduce((all, count) => all + count, 0);
}

const figure = figureOf<{ readonly slots: StreamSlotStats; readonly log: () => EventSpan }>();

export const streamFigures = [
  figure({
    read: ({ slots }) => slots,
    metric: {
      ...gaugeBy("transport", "stream_connections", "Open streams of events by transport."),
      samples: ({ connections }) =>
        Object.entries(connections).map(([transport, open]) => [{ transport }, open] as const),
    },
    status: ["stream.connections", ({ connections }) => connections],
    history: {
      series: "streams",
      minute: "max",
      of: openStreams,
      queue: { label: "Open streams", words: "Readers of live events.", unit: "count" },
    },
  }),
  figure({ read: ({ slots }) => slots.maxConnections, status: "stream.max_connections" }),
  figure({ read: ({ slots }) => slots.addresses, status: "stream.addresses" }),
  figure({ read: ({ slots }) => slots.expressions, status: "stream.expressions" }),
  figure({ read: ({ log }) => log().events, status: "stream.retained_events" }),
  figure({ read: ({ log }) => log().oldestAt, status: "stream.oldest_at" }),
];
