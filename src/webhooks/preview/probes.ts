import type { EventKind } from "../../protocol/event-kind.ts";
import { REGEX_FIELDS } from "../match/event-keys.ts";
import type { Subscription } from "../subscription.ts";
import { eventKinds } from "../subscription-schema.ts";

/** Subscriptions that show, by the matcher of deliveries, why an event does not match one. */
export interface Probes {
  /** The subscription itself, and parts of its filters, by ids of this object. */
  readonly subscriptions: readonly { readonly id: string; readonly subscription: Subscription }[];
  /**
   * Returns the field to which an event falls, undefined for one that matches. Of fields that must all match it is the first one that
   * does not, expressions last. It is `type` for a kind that is not subscribed, and `match` where any field would do and none does.
   *
   * @param matched ids of the matching subscriptions.
   */
  fellTo(kind: EventKind | undefined, matched: ReadonlySet<string>): string | undefined;
}

type Filter = Readonly<Record<string, unknown>>;

interface Step {
  readonly field: string;
  readonly id: string;
}

const WHOLE = "whole";
/** What must hold whatever `match` says. */
const ALWAYS: ReadonlySet<string> = new Set(["exclude_author_fids", "minimum_author_score"]);

export function probesOf(subscription: Subscription): Probes {
  const subscriptions: { id: string; subscription: Subscription }[] = [{ id: WHOLE, subscription }];
  const stepsOf = new Map<EventKind, { readonly steps: readonly Step[]; readonly last: string }>();
  for (const { kind, filters } of eventKinds) {
    const filter = (subscription as Readonly<Partial<Record<EventKind, Filter>>>)[kind];
    if (filter === undefined) continue;
    const given = filters.filter((field) => field !== "match" && filter[field] !== undefined);
    const isAny = filter.match === "any";
    const probed = isAny ? given.filter((field) => ALWAYS.has(field)) : given;
    const lists = probed.filter((field) => !isExpression(field));
    const expressions = REGEX_FIELDS.filter((field) => probed.includes(field));
    const last = isAny ? "match" : (expressions.at(-1) ?? lists.at(-1) ?? "match");
    const steps: Step[] = [];
    const probe = (field: string, fields: readonly string[]) => {
      const id = `${kind} ${field}`;
      const part = Object.fromEntries(fields.map((name) => [name, filter[name]]));
      subscriptions.push({ id, subscription: { [kind]: part } });
      steps.push({ field, id });
    };
    for (const field of lists) if (field !== last) probe(field, [field]);
    // An expression is matched only where everything before it does, as in the subscription itself.
    for (const field of expressions) if (field !== last) probe(field, [...lists, field]);
    stepsOf.set(kind, { steps, last });
  }
  return {
    subscriptions,
    fellTo(kind, matched) {
      if (matched.has(WHOLE)) return undefined;
      const found = kind && stepsOf.get(kind);
      if (!found) return "type";
      return found.steps.find(({ id }) => !matched.has(id))?.field ?? found.last;
    },
  };
}

const isExpression = (field: string): boolean => (REGEX_FIELDS as readonly string[]).includes(field);
