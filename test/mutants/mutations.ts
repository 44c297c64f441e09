import { parseSync } from "oxc-parser";

/** One change of a source file that a test should notice. */
export interface Mutation {
  /** What kind of change it is, for the list of accepted survivors. */
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  /** The text that replaces the characters from `start` to `end`. */
  readonly replacement: string;
}

/** A mutation of a file, with the text of the file. */
export interface Mutant extends Mutation {
  readonly file: string;
  readonly source: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const SWAPS: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "&&": ["||"],
  "||": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&": ["|"],
  "|": ["&"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "+=": ["-="],
  "-=": ["+="],
};

const METHODS: ReadonlyMap<string, string> = new Map([
  ["min", "max"],
  ["max", "min"],
  ["some", "every"],
  ["every", "some"],
]);

/** Operators show what a node does in its log and metrics. These statements decide nothing, so they have no mutants, nor do their arguments. */
const OBSERVED =
  /^(?:await )?(?:this\.)?#?(?:\w+\.)*(?:(?:log|logger|stats|metrics|counters?|onFault)\b|log[A-Z]\w*\()/;

/**
 * Returns the mutations of a TypeScript source, in the order of their position.
 *
 * The set is that of the common tools (comparisons, logic, arithmetic, conditions, booleans, removed calls), without those of string and
 * object literals, which mostly change texts.
 */
export function mutationsOf(path: string, source: string): Mutation[] {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const found: Mutation[] = [];
  visit(program as unknown as Node, source, found);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns the source with the change. */
export function mutated(source: string, { start, end, replacement }: Mutation): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

function visit(node: Node, source: string, found: Mutation[]): void {
  if ((node.type.startsWith("TS") && !("expression" in node)) || isObserved(node, source)) return;
  mutate(node, source, found);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) visit(child, source, found);
    }
  }
}

function mutate(node: Node, source: string, found: Mutation[]): void {
  const textOf = ({ start, end }: Node) => source.slice(start, end);
  const replace = (operator: string, { start, end }: Node, replacement: string) =>
    found.push({ operator, start, end, replacement });
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression": {
      const { left, right, operator } = node as unknown as { left: Node; right: Node; operator: string };
      if (operator === "??") replace("?? -> left", node, textOf(left));
      if (operator === "+" && (isText(left) || isText(right))) return;
      const at = operatorPosition(source, left.end, operator);
      for (const other of SWAPS[operator] ?? []) {
        found.push({
          operator: `${operator} -> ${other}`,
          start: at,
          end: at + operator.length,
          replacement: other,
        });
      }
      return;
    }
    case "IfStatement":
    case "ConditionalExpression": {
      const test = node.test as Node;
      replace("condition -> true", test, "true");
      replace("condition -> false", test, "false");
      return;
    }
    case "UnaryExpression":
      if (node.operator === "!") replace("! removed", node, textOf(node.argument as Node));
      return;
    case "Literal":
      if (typeof node.value === "boolean") replace("boolean", node, String(!node.value));
      return;
    case "CallExpression": {
      const property = (node.callee as Node).property as Node | undefined;
      const other = property?.type === "Identifier" ? METHODS.get(property.name as string) : undefined;
      if (property && other) replace(`${textOf(property)} -> ${other}`, property, other);
      return;
    }
    case "ExpressionStatement": {
      const expression = node.expression as Node;
      const call = expression.type === "AwaitExpression" ? (expression.argument as Node) : expression;
      if (call.type === "CallExpression") replace("call removed", node, "{}");
      return;
    }
  }
}

/** Comments between the operands are rare; the operator is the first occurrence after the left one that is outside of them. */
function operatorPosition(source: string, from: number, operator: string): number {
  for (let at = from; ; at++) {
    if (source.startsWith("//", at)) at = source.indexOf("\n", at);
    else if (source.startsWith("/*", at)) at = source.indexOf("*/", at) + 1;
    else if (source.startsWith(operator, at)) return at;
  }
}

/** Log lines, counts, and the texts of faults. */
function isObserved(node: Node, source: string): boolean {
  if (node.type === "ExpressionStatement") return OBSERVED.test(source.slice(node.start, node.end));
  return node.type === "NewExpression" && (node.callee as Node).name === "Error";
}

function isText(node: Node): boolean {
  return node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}
