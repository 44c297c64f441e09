import { Refusal } from "../management/refusal.ts";
import { readRegex } from "../management/regex.ts";
import { Shard } from "./expression-shard.ts";
import { LiteralGate } from "./literal-gate.ts";
import { SingleExpression } from "./single-expression.ts";

/** Expressions that one automaton matches at once. More of them have more states than are worth keeping. */
const SHARD_EXPRESSIONS = 64;
/** Beyond so many shards, none is cut. */
const MAX_SHARDS = 4_096;
/** What all shards together may keep of the states that they came through; to find a state again takes time. */
const SHARDS_BYTES = 32 * 1024 * 1024;
const MAX_SHARD_BYTES = 1024 * 1024;
const MIN_SHARD_BYTES = 64 * 1024;

/** A regular expression that filters share. */
export class Expression {
  uses = 0;
  /** Where it is matched: on its own, against texts that its literals admit, or with others, against every text. */
  single: SingleExpression | undefined;
  shard: Shard<Expression> | undefined;

  constructor(readonly source: string) {}

  /** False for one that no longer passes as one: it matches nothing. */
  get isUsable(): boolean {
    return this.single !== undefined || this.shard !== undefined;
  }
}

/**
 * Regular expressions over one field, each once however many filters hold it, all matched in time linear in the text.
 * Those that need a literal are asked only about texts that hold it, one by one; the others are asked about every text,
 * many at a time. A change costs the shard that it touches a new automaton, and that only when it is next asked.
 */
export class ExpressionPool {
  readonly #expressions = new Map<string, Expression>();
  readonly #gate = new LiteralGate<Expression>();
  /** Of those that pass no gate. */
  readonly #shards = new Set<Shard<Expression>>();
  /** Those of them with room. */
  readonly #open = new Set<Shard<Expression>>();
  readonly #nowMs: () => number;
  #event = 0;
  #subjects: readonly string[] = [];
  /** Undefined until an event asks for it. */
  #admitted: ReadonlySet<Expression> | undefined;

  /** `nowMs` measures how long shards take, which decides on nothing but their cuts. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Adds a use of an expression, which lasts until it is removed. */
  add(source: string): Expression {
    let expression = this.#expressions.get(source);
    if (expression === undefined) {
      expression = new Expression(source);
      this.#expressions.set(source, expression);
      if (!(readRegex(source, "expression") instanceof Refusal)) this.#place(expression);
    }
    expression.uses += 1;
    return expression;
  }

  remove(expression: Expression): void {
    expression.uses -= 1;
    if (expression.uses > 0) return;
    this.#expressions.delete(expression.source);
    const { single, shard } = expression;
    if (single) this.#gate.remove(expression);
    if (shard) {
      shard.remove(expression);
      this.#list(shard);
    }
  }

  /** Turns to an event; what was asked before is forgotten. */
  turnTo(subjects: readonly string[]): void {
    this.#event += 1;
    this.#subjects = subjects;
    this.#admitted = undefined;
  }

  /** Whether an expression matches one of the event's subjects. Whatever has to be run for that is, once for an event. */
  isMatching(expression: Expression): boolean {
    const { single, shard } = expression;
    if (this.#subjects.length === 0) return false;
    if (single) return this.#admissions().has(expression) && single.isMatching(this.#event, this.#subjects);
    return shard !== undefined && this.#run(shard).includes(expression);
  }

  /** Every expression that matches one of the event's subjects. */
  matching(): Expression[] {
    if (this.#subjects.length === 0) return [];
    return [
      ...[...this.#admissions()].filter((expression) => this.isMatching(expression)),
      ...[...this.#shards].flatMap((shard) => this.#run(shard)),
    ];
  }

  #admissions(): ReadonlySet<Expression> {
    this.#admitted ??= this.#gate.admitted(this.#subjects);
    return this.#admitted;
  }

  #run(shard: Shard<Expression>): readonly Expression[] {
    if (shard.event === this.#event) return shard.matched;
    shard.run(this.#event, this.#subjects, this.#memoryBytes(), this.#nowMs);
    const halves = this.#shards.size < MAX_SHARDS ? shard.cutIfSlow() : undefined;
    if (halves) this.#replace(shard, halves);
    return shard.matched;
  }

  #replace(shard: Shard<Expression>, halves: readonly Shard<Expression>[]): void {
    this.#shards.delete(shard);
    this.#open.delete(shard);
    for (const half of halves) {
      for (const expression of half.members) expression.shard = half;
      this.#list(half);
    }
  }

  #place(expression: Expression): void {
    if (this.#gate.add(expression)) {
      expression.single = new SingleExpression(expression.source);
      return;
    }
    const [shard = new Shard<Expression>([], SHARD_EXPRESSIONS)] = this.#open;
    shard.add(expression);
    expression.shard = shard;
    this.#list(shard);
  }

  #list(shard: Shard<Expression>): void {
    const { length } = shard.members;
    if (length > 0) this.#shards.add(shard);
    else this.#shards.delete(shard);
    if (length > 0 && length < shard.capacity) this.#open.add(shard);
    else this.#open.delete(shard);
  }

  #memoryBytes(): number {
    return Math.max(MIN_SHARD_BYTES, Math.min(MAX_SHARD_BYTES, Math.floor(SHARDS_BYTES / this.#shards.size)));
  }
}
