import { Type } from "@sinclair/typebox";
import { badRequest, choice, type Documented, list, optional, type QueryParam, scalar } from "./params.ts";

/** A boolean, as `true` or `false`. */
export function flag(fallback: boolean, documented?: Documented): QueryParam<boolean> {
  return optional(boolean(documented), fallback);
}

/** An optional boolean; if it is absent, the meaning depends on the data. */
export function optionalFlag(documented?: Documented): QueryParam<boolean | undefined> {
  return optional(boolean(documented));
}

function boolean(documented?: Documented): QueryParam<boolean> {
  return scalar(Type.Boolean(documented), (text, name) => {
    if (text !== "true" && text !== "false") throw badRequest(`${name} must be true or false`);
    return text === "true";
  });
}

/** A list of at least one of the words. */
function wordList<const T extends string>(
  words: readonly T[],
  documented?: Documented,
): QueryParam<readonly T[]> {
  const { decode } = choice(words);
  const items = Type.Unsafe<T>({ type: "string", enum: [...words] });
  return list(items, (text, name) => decode([text], name), { maxItems: 100, ...documented });
}

/** A selection of words, in the order of `words`; `fallback` if the parameter is absent. */
export function choices<const T extends string>(
  words: readonly T[],
  fallback: readonly NoInfer<T>[],
  documented?: Documented,
): QueryParam<readonly T[]> {
  const { schema, decode } = optional(wordList(words, documented), fallback);
  return {
    schema,
    required: false,
    decode(values, name) {
      const chosen = decode(values, name);
      return words.filter((word) => chosen.includes(word));
    },
  };
}

/** A selection of words; all of them if the parameter is absent or contains `all`. */
export function choiceList<const T extends string>(
  words: readonly T[],
  documented?: Documented,
): QueryParam<readonly T[]> {
  const param = wordList([...words, "all"], documented);
  return {
    schema: param.schema,
    required: false,
    decode(values, name) {
      if (values.every((value) => value === "")) return words;
      const chosen = param.decode(values, name);
      return chosen.includes("all") ? words : words.filter((word) => chosen.includes(word));
    },
  };
}

const DECIMAL = /^-?\d{1,9}(?:\.\d{1,20})?$/;

/** A decimal number within a range. */
export function decimal(
  options: Documented & { readonly min: number; readonly max: number },
): QueryParam<number> {
  const { min, max, ...documented } = options;
  return scalar(Type.Number({ minimum: min, maximum: max, ...documented }), (text, name) => {
    const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw badRequest(`${name} must be a number from ${min} to ${max}`);
    return value;
  });
}
