import { MAX_MEMBER_PROGRAM_SIZE, Shard } from "./expression-shard.ts";
import { LiteralPrefilter } from "./literal-prefilter.ts";
import type { OwnerBudgets, Subscriber } from "./owner-budgets.ts";
import type { RegexProgram } from "./regex-program.ts";
import { LargeAutomata, SingleExpression } from "./single-expression.ts";

/** What all shards together may keep of the states that they came through; to find a state again takes time. */
const SHARDS_BYTES = 32 * 1024 * 1024;
const MAX_SHARD_BYTES = 1024 * 1024;
const MIN_SHARD_BYTES = 64 * 1024;
/** What is matched on its own is matched together with others after so many characters, the more often it was slow the more. */
const CHARS_UNTIL_TOGETHER = 25_000;
const MAX_DOUBLINGS = 10;
/** Shards that are looked at for room. */
const MAX_LOOKED_AT = 16;
/**
 * The most that an instruction can take for a character on a slow machine; what a measured time has beyond that is not the
 * expression's: the thread waited for the processor.
 */
const MAX_MS_PER_STEP = 200e-6;
const MAX_MS_PER_RUN = 0.01;

/** A regular expression that filters share. */
export class Expression {
  readonly subscribers = new Set<Subscriber>();
  /** Where it is matched: on its own, or together with others. */
  matched:
    | { readonly by: "gate"; readonly single: SingleExpression }
    | { readonly by: "itself"; readonly single: SingleExpression }
    | { readonly by: "shard"; readonly shard: Shard<Expression> };
  /** How often a shard with it was taken apart. */
  timesSplit = 0;

  constructor(
    readonly source: string,
    readonly programSize: number,
    single: SingleExpression,
  ) {
    this.matched = { by: "itself", single };
  }

  /** Whether somebody is still to be told of it. */
  get hasActiveSubscriber(): boolean {
    for (const { isOverBudget } of this.subscribers) if (!isOverBudget) return true;
    return false;
  }
}

/**
 * Regular expressions over one field, each once however many filters hold it, all matched in time linear in the text.
 * Those that need a literal are asked only about texts that hold it, one by one; the others are asked about every text,
 * many at a time where they are small. A shard that turns out to be slow is taken apart, so that each of its expressions
 * is measured, and charged to whom it belongs; who is quick then joins a shard again.
 */
export class ExpressionPool {
  readonly #expressions = new Map<string, Expression>();
  readonly #gate = new LiteralPrefilter<Expression>();
  /** Of those that pass no gate. */
  readonly #shards = new Set<Shard<Expression>>();
  /** Those of them that may have room. */
  readonly #open = new Set<Shard<Expression>>();
  /** Those that pass no gate and are in no shard. */
  readonly #apart = new Set<Expression>();
  readonly #large = new LargeAutomata();
  readonly #budgets: OwnerBudgets;
  readonly #nowMs: () => number;
  #event = 0;
  #subjects: readonly string[] = [];
  #chars = 0;
  /** Undefined until an event asks for it. */
  #admitted: ReadonlySet<Expression> | undefined;

  /** @param nowMs measures what expressions cost. */
  constructor(budgets: OwnerBudgets, nowMs: () => number) {
    this.#budgets = budgets;
    this.#nowMs = nowMs;
  }

  /** Adds an expression for a subscription, or the subscription to those of the expression. */
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
      this.#list(matched.shard);
    }
  }

  /** Turns to an event; what was asked before is forgotten. */
  setEvent(subjects: readonly string[]): void {
    this.#event += 1;
    this.#subjects = subjects;
    this.#admitted = undefined;
    this.#chars = 0;
    for (const { length } of subjects) this.#chars += length;
  }

  /** Whether an expression matches one of the event's subjects; `asker` pays where that has to be found out. */
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

  /** Every expression that matches one of the event's subjects; whoever holds it pays for it. */
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
      if (expression.matched.by === "itself") this.#judge(expression, single);
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

  /** A fault of one expression is the affair of those who hold it, and costs nobody else the event. */
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
    if (shard.isSlow) this.#takeApart(shard);
    return shard.matched;
  }

  #chargeAll(expression: Expression, ms: number): void {
    const { subscribers } = expression;
    for (const subscriber of subscribers) this.#budgets.charge(subscriber, ms / subscribers.size);
  }

  #costMs({ programSize }: Expression, measuredMs: number): number {
    return Math.min(measuredMs, programSize * this.#chars * MAX_MS_PER_STEP + MAX_MS_PER_RUN);
  }

  #takeApart(shard: Shard<Expression>): void {
    this.#shards.delete(shard);
    this.#open.delete(shard);
    for (const expression of shard.members) {
      expression.timesSplit += 1;
      const single = new SingleExpression(expression.source, this.#large);
      // The event goes on, and what the shard found holds for it.
      single.know(this.#event, shard.matched.includes(expression));
      expression.matched = { by: "itself", single };
      this.#apart.add(expression);
    }
  }

  /** Puts an expression that proved to be quick into a shard, each time later if shards with it keep being slow. */
  #judge(expression: Expression, single: SingleExpression): void {
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
    this.#list(shard);
  }

  #shardFor(expression: Expression): Shard<Expression> {
    let looks = 0;
    for (const shard of this.#open) {
      if (shard.hasRoomFor(expression)) return shard;
      looks += 1;
      if (looks === MAX_LOOKED_AT) break;
    }
    return new Shard();
  }

  #list(shard: Shard<Expression>): void {
    if (shard.members.length > 0) this.#shards.add(shard);
    else this.#shards.delete(shard);
    if (shard.members.length > 0 && !shard.isFull) this.#open.add(shard);
    else this.#open.delete(shard);
  }

  #memoryBytes(): number {
    return Math.max(MIN_SHARD_BYTES, Math.min(MAX_SHARD_BYTES, Math.floor(SHARDS_BYTES / this.#shards.size)));
  }
}
