import type { OwnerBudgets, Subscriber } from "../owner-budgets.ts";
import { MAX_MEMBER_PROGRAM_SIZE, Shard } from "./expression-shard.ts";
import { LiteralPrefilter } from "./literal-prefilter.ts";
import type { RegexProgram } from "./regex-program.ts";
import { LargeAutomata, SingleExpression } from "./single-expression.ts";

/** Memory for the cached states of all shards. */
const SHARDS_BYTES = 32 * 1024 * 1024;
const MAX_SHARD_BYTES = 1024 * 1024;
const MIN_SHARD_BYTES = 64 * 1024;
/** How many characters a quick expression must match before it joins a shard again; doubled each time its shard was slow. */
const CHARS_UNTIL_TOGETHER = 25_000;
const MAX_DOUBLINGS = 10;
/** Maximum number of shards that are checked for room. */
const MAX_SHARDS_CHECKED = 16;
/**
 * Upper bound of the time per instruction and character on a slow machine. Measured time above it is not charged: the
 * thread waited for the processor.
 */
const MAX_MS_PER_STEP = 200e-6;
const MAX_MS_PER_RUN = 0.01;

/** A regular expression that filters share. */
export class Expression {
  readonly subscribers = new Set<Subscriber>();
  /** How it is matched: after the literal prefilter, by itself, or in a shard. */
  matched:
    | { readonly by: "gate"; readonly single: SingleExpression }
    | { readonly by: "itself"; readonly single: SingleExpression }
    | { readonly by: "shard"; readonly shard: Shard<Expression> };
  /** How often a shard that contained it was split. */
  timesSplit = 0;

  constructor(
    readonly source: string,
    readonly programSize: number,
    single: SingleExpression,
  ) {
    this.matched = { by: "itself", single };
  }

  /** Whether a subscriber is still within its budget. */
  get hasActiveSubscriber(): boolean {
    for (const { isOverBudget } of this.subscribers) if (!isOverBudget) return true;
    return false;
  }
}

/**
 * The regular expressions of one field, each once for all filters, matched in time linear in the text. Expressions that
 * require a literal are matched one by one, only against texts with the literal. The others are matched against every
 * text, small ones many at a time in a shard. A slow shard is split, so that each of its expressions is measured and
 * charged to its owners; quick ones then join a shard again.
 */
export class ExpressionPool {
  readonly #expressions = new Map<string, Expression>();
  readonly #gate = new LiteralPrefilter<Expression>();
  /** Shards of the expressions without a required literal. */
  readonly #shards = new Set<Shard<Expression>>();
  /** Shards that may have room. */
  readonly #open = new Set<Shard<Expression>>();
  /** Expressions without a required literal that are not in a shard. */
  readonly #apart = new Set<Expression>();
  readonly #large = new LargeAutomata();
  readonly #budgets: OwnerBudgets;
  readonly #nowMs: () => number;
  #event = 0;
  #subjects: readonly string[] = [];
  #chars = 0;
  /** Result of the prefilter for the event; computed on demand. */
  #admitted: ReadonlySet<Expression> | undefined;

  /** @param nowMs measures the cost of expressions. */
  constructor(budgets: OwnerBudgets, nowMs: () => number) {
    this.#budgets = budgets;
    this.#nowMs = nowMs;
  }

  /** Adds a subscriber to an expression, and the expression if it is new. */
  add({ source, size }: RegexProgram, subscriber: Subscriber): Expression {
    let expression = this.#expressions.get(source);
    if (expression === undefined) {
      const single = new SingleExpression(source, this.#large);
      expression = new Expression(source, size, single);
      this.#expressions.set(source, expression);
      if (this.#gate.add(expression)) expression.matched = { by: "gate", single };
      else this.#place(expression);
    }
    expression.subscribers.add(subscriber);
    return expression;
  }

  remove(expression: Expression, subscriber: Subscriber): void {
    expression.subscribers.delete(subscriber);
    if (expression.subscribers.size > 0) return;
    this.#expressions.delete(expression.source);
    const { matched } = expression;
    if (matched.by !== "shard") matched.single[Symbol.dispose]();
    if (matched.by === "gate") this.#gate.remove(expression);
    else if (matched.by === "itself") this.#apart.delete(expression);
    else {
      matched.shard.remove(expression);
      this.#updateShard(matched.shard);
    }
  }

  /** Sets the current event and discards the results of the previous one. */
  setEvent(subjects: readonly string[]): void {
    this.#event += 1;
    this.#subjects = subjects;
    this.#admitted = undefined;
    this.#chars = 0;
    for (const { length } of subjects) this.#chars += length;
  }

  /** Returns whether an expression matches one of the event's subjects. If this has to be computed, `asker` is charged. */
  isMatching(expression: Expression, asker: Subscriber): boolean {
    const { matched } = expression;
    if (this.#subjects.length === 0) return false;
    if (matched.by === "shard") return this.#run(matched.shard).includes(expression);
    if (matched.by === "gate" && !this.#admissions().has(expression)) return false;
    const startMs = this.#nowMs();
    const isMatching = this.#runSingle(expression, matched.single);
    const costMs = this.#costMs(expression, this.#nowMs() - startMs);
    matched.single.count(costMs, this.#chars);
    this.#budgets.charge(asker, costMs);
    return isMatching;
  }

  /** Returns the expressions that match one of the event's subjects, and charges their subscribers. */
  matching(): Expression[] {
    if (this.#subjects.length === 0 || this.#expressions.size === 0) return [];
    const matching: Expression[] = [];
    const atOnce = [...this.#shards];
    let startMs = this.#nowMs();
    const run = (expression: Expression, single: SingleExpression) => {
      if (!expression.hasActiveSubscriber) return;
      if (this.#runSingle(expression, single)) matching.push(expression);
      const endMs = this.#nowMs();
      const costMs = this.#costMs(expression, endMs - startMs);
      single.count(costMs, this.#chars);
      this.#chargeAll(expression, costMs);
      startMs = endMs;
      if (expression.matched.by === "itself") this.#rate(expression, single);
    };
    for (const expression of this.#admissions()) {
      if (expression.matched.by !== "shard") run(expression, expression.matched.single);
    }
    for (const expression of this.#apart) {
      if (expression.matched.by !== "shard") run(expression, expression.matched.single);
    }
    for (const shard of atOnce) matching.push(...this.#run(shard));
    return matching;
  }

  /** A fault of one expression affects only its subscribers. */
  #runSingle({ subscribers }: Expression, single: SingleExpression): boolean {
    try {
      return single.isMatching(this.#event, this.#subjects);
    } catch {
      for (const subscriber of subscribers)
        this.#budgets.refuse(subscriber, "its regular expression cannot be matched");
      return false;
    }
  }

  #admissions(): ReadonlySet<Expression> {
    this.#admitted ??= this.#gate.candidates(this.#subjects);
    return this.#admitted;
  }

  #run(shard: Shard<Expression>): readonly Expression[] {
    if (shard.event === this.#event) return shard.matched;
    const spentMs = shard.run(this.#event, this.#subjects, this.#memoryBytes(), this.#nowMs);
    if (spentMs > 0) {
      for (const expression of shard.members)
        this.#chargeAll(expression, (spentMs * expression.programSize) / shard.programSize);
    }
    if (shard.isSlow) this.#split(shard);
    return shard.matched;
  }

  #chargeAll(expression: Expression, ms: number): void {
    const { subscribers } = expression;
    for (const subscriber of subscribers) this.#budgets.charge(subscriber, ms / subscribers.size);
  }

  #costMs({ programSize }: Expression, measuredMs: number): number {
    return Math.min(measuredMs, programSize * this.#chars * MAX_MS_PER_STEP + MAX_MS_PER_RUN);
  }

  #split(shard: Shard<Expression>): void {
    this.#shards.delete(shard);
    this.#open.delete(shard);
    for (const expression of shard.members) {
      expression.timesSplit += 1;
      const single = new SingleExpression(expression.source, this.#large);
      // The shard's result stays valid for the current event.
      single.setResult(this.#event, shard.matched.includes(expression));
      expression.matched = { by: "itself", single };
      this.#apart.add(expression);
    }
  }

  /** Moves a quick expression to a shard. Each time that a shard with it was slow, this takes longer. */
  #rate(expression: Expression, single: SingleExpression): void {
    if (expression.programSize > MAX_MEMBER_PROGRAM_SIZE) return;
    const minChars = CHARS_UNTIL_TOGETHER * 2 ** Math.min(expression.timesSplit, MAX_DOUBLINGS);
    if (!single.isQuick(minChars)) return;
    single[Symbol.dispose]();
    this.#apart.delete(expression);
    this.#place(expression);
  }

  #place(expression: Expression): void {
    if (expression.programSize > MAX_MEMBER_PROGRAM_SIZE) {
      this.#apart.add(expression);
      return;
    }
    const shard = this.#shardFor(expression);
    shard.add(expression);
    expression.matched = { by: "shard", shard };
    this.#updateShard(shard);
  }

  #shardFor(expression: Expression): Shard<Expression> {
    let checked = 0;
    for (const shard of this.#open) {
      if (shard.hasRoomFor(expression)) return shard;
      checked += 1;
      if (checked === MAX_SHARDS_CHECKED) break;
    }
    return new Shard();
  }

  #updateShard(shard: Shard<Expression>): void {
    if (shard.members.length > 0) this.#shards.add(shard);
    else this.#shards.delete(shard);
    if (shard.members.length > 0 && !shard.isFull) this.#open.add(shard);
    else this.#open.delete(shard);
  }

  #memoryBytes(): number {
    return Math.max(MIN_SHARD_BYTES, Math.min(MAX_SHARD_BYTES, Math.floor(SHARDS_BYTES / this.#shards.size)));
  }
}
