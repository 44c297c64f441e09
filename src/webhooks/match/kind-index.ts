import type { Filter } from "../subscription.ts";
import {
  type EventKeys,
  type Key,
  LIST_FIELDS,
  type ListField,
  REGEX_FIELDS,
  type RegexField,
} from "./event-keys.ts";
import { type Expression, ExpressionPool } from "./expressions/expressions.ts";
import type { RegexProgram } from "./expressions/regex-program.ts";
import type { OwnerBudgets, Subscriber } from "./owner-budgets.ts";

interface ListCondition {
  readonly field: ListField;
  readonly values: ReadonlySet<Key>;
}
interface RegexCondition {
  readonly field: RegexField;
  readonly expression: Expression;
}
type Condition = ListCondition | RegexCondition;

/** A subscription's filter. */
interface Rule {
  readonly subscriber: Subscriber;
  /** Indexed conditions: an event that meets one of them selects the rule. Without any, every event does. */
  readonly paths: readonly Condition[];
  /** Conditions that must hold in addition. */
  readonly rest: readonly Condition[];
  readonly excludedFids: ReadonlySet<number>;
  readonly minimumScore: number | undefined;
  /** The event that last selected it, so that it is evaluated once per event. */
  event: number;
}

/** The programs of a filter's regular expressions. */
export type FieldPrograms = Readonly<Partial<Record<RegexField, RegexProgram>>>;

type Pools = Readonly<Record<RegexField, ExpressionPool>>;

/** Inverted index of the filters of one kind of event: an event's values select the filters that may match it. */
export class KindIndex {
  readonly #rules = new Map<string, Rule>();
  readonly #unconditional = new Set<Rule>();
  readonly #byValue = new Map<ListField, Map<Key, Set<Rule>>>();
  readonly #byExpression = new Map<Expression, Set<Rule>>();
  /** Expressions that select filters; matched against every event. */
  readonly #selecting: Pools;
  /** Expressions that are matched only when the other conditions of a filter hold. */
  readonly #additional: Pools;
  #event = 0;

  constructor(budgets: OwnerBudgets, nowMs: () => number) {
    const pool = () => new ExpressionPool(budgets, nowMs);
    const pools = () => ({ text: pool(), embeds: pool() });
    this.#selecting = pools();
    this.#additional = pools();
  }

  /** Adds the filter of a new subscription. @param programs compiled expressions by field. */
  add(subscriber: Subscriber, filter: Filter, programs: FieldPrograms): void {
    const paths: Condition[] = [];
    const rest: Condition[] = [];
    const isPath = () => filter.match === "any" || paths.length === 0;
    for (const field of LIST_FIELDS) {
      const values = filter[field];
      if (values?.length) (isPath() ? paths : rest).push({ field, values: new Set<Key>(values) });
    }
    for (const field of REGEX_FIELDS) {
      const program = programs[field];
      if (program === undefined) continue;
      if (isPath()) paths.push({ field, expression: this.#selecting[field].add(program, subscriber) });
      else rest.push({ field, expression: this.#additional[field].add(program, subscriber) });
    }
    const excludedFids = new Set(filter.exclude_author_fids);
    const minimumScore = filter.minimum_author_score;
    const rule: Rule = { subscriber, paths, rest, excludedFids, minimumScore, event: this.#event };
    this.#rules.set(subscriber.id, rule);
    if (paths.length === 0) this.#unconditional.add(rule);
    for (const path of paths) this.#index(path, rule);
  }

  delete(id: string): void {
    const rule = this.#rules.get(id);
    if (rule === undefined) return;
    this.#rules.delete(id);
    this.#unconditional.delete(rule);
    for (const path of rule.paths) {
      this.#unindex(path, rule);
      if ("expression" in path) this.#selecting[path.field].remove(path.expression, rule.subscriber);
    }
    for (const condition of rule.rest) {
      if ("expression" in condition)
        this.#additional[condition.field].remove(condition.expression, rule.subscriber);
    }
  }

  /** Returns the subscriptions whose filters match the event, unordered. */
  match(keys: EventKeys): string[] {
    if (this.#rules.size === 0) return [];
    this.#event += 1;
    const matched: string[] = [];
    const evaluate = (rules: ReadonlySet<Rule> | undefined) => {
      if (rules === undefined) return;
      for (const rule of rules) {
        if (rule.event === this.#event) continue;
        rule.event = this.#event;
        if (!rule.subscriber.isOverBudget && this.#matches(rule, keys)) matched.push(rule.subscriber.id);
      }
    };
    for (const field of REGEX_FIELDS) this.#additional[field].setEvent(keys.subjects[field] ?? []);
    evaluate(this.#unconditional);
    for (const [field, rulesByValue] of this.#byValue) {
      for (const key of keys.lists[field] ?? []) evaluate(rulesByValue.get(key));
    }
    for (const field of REGEX_FIELDS) {
      const pool = this.#selecting[field];
      pool.setEvent(keys.subjects[field] ?? []);
      for (const expression of pool.matching()) evaluate(this.#byExpression.get(expression));
    }
    return matched;
  }

  #matches({ subscriber, rest, excludedFids, minimumScore = 0 }: Rule, keys: EventKeys): boolean {
    if (keys.authorFid !== null && excludedFids.has(keys.authorFid)) return false;
    if (keys.authorScore !== undefined && keys.authorScore < minimumScore) return false;
    return rest.every((condition) =>
      "values" in condition
        ? keys.lists[condition.field]?.some((key) => condition.values.has(key))
        : this.#additional[condition.field].isMatching(condition.expression, subscriber),
    );
  }

  #index(path: Condition, rule: Rule): void {
    if ("expression" in path) {
      list(this.#byExpression, path.expression, rule);
    } else {
      const rulesByValue = this.#byValue.get(path.field) ?? new Map<Key, Set<Rule>>();
      this.#byValue.set(path.field, rulesByValue);
      for (const value of path.values) list(rulesByValue, value, rule);
    }
  }

  #unindex(path: Condition, rule: Rule): void {
    if ("expression" in path) {
      unlist(this.#byExpression, path.expression, rule);
    } else {
      const rulesByValue = this.#byValue.get(path.field);
      if (rulesByValue) for (const value of path.values) unlist(rulesByValue, value, rule);
    }
  }
}

function list<By>(rules: Map<By, Set<Rule>>, by: By, rule: Rule): void {
  const listed = rules.get(by);
  if (listed) listed.add(rule);
  else rules.set(by, new Set([rule]));
}

function unlist<By>(rules: Map<By, Set<Rule>>, by: By, rule: Rule): void {
  const listed = rules.get(by);
  listed?.delete(rule);
  if (listed?.size === 0) rules.delete(by);
}
