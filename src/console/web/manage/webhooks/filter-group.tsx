import { useState } from "preact/hooks";
import { Field } from "../../parts/field.tsx";
import { EVENT_KINDS, FILTER_FIELDS, type FilterField, splitValues } from "../../stream/filters.ts";
import { ChannelField, PeopleField } from "./chips.tsx";
import { fieldsOf, type FilterGroup as Group } from "./filter-state.ts";

const HINTS = {
  hashes: "0x and 40 hex digits, with spaces between.",
  expression: "Found anywhere; (?i) ignores case.",
} as const;

interface FieldInputProps {
  readonly field: FilterField;
  readonly name: string;
  readonly values: readonly string[];
  readonly typed: string;
  readonly onChange: (values: readonly string[], typed: string) => void;
  readonly problem: string | undefined;
}

/** Keeps what was typed between the values, such as a space that has yet to get a value behind it. */
function TextInput({ field, name, values, onChange, problem }: FieldInputProps) {
  const [typed, setTyped] = useState({ text: values.join(" "), values });
  const isOwn = typed.values.join(" ") === values.join(" ");
  return (
    <Field
      label={field.label}
      name={name}
      value={isOwn ? typed.text : values.join(" ")}
      onInput={(text) => {
        const next = splitValues(field, text);
        setTyped({ text, values: next });
        onChange(next, "");
      }}
      hint={HINTS[field.values === "expression" ? "expression" : "hashes"]}
      problem={problem}
    />
  );
}

function FieldInput(props: FieldInputProps) {
  const { field, ...chips } = props;
  if (field.values === "people") return <PeopleField label={field.label} {...chips} />;
  if (field.values === "urls") return <ChannelField label={field.label} {...chips} />;
  return <TextInput {...props} />;
}

const GROUPS = [...new Set(FILTER_FIELDS.map(({ group }) => group))];

/** One filter and the kinds of events that have it. */
export function FilterGroup({
  group,
  at,
  taken,
  problems,
  onChange,
  onRemove,
}: {
  group: Group;
  /** Its number, which makes names unique on the page. */
  at: number;
  /** Kinds that have another filter. */
  taken: readonly string[];
  /** By field; that of the kinds is under "". */
  problems: Readonly<Record<string, string>>;
  onChange: (group: Group) => void;
  /** Undefined for the only one. */
  onRemove: (() => void) | undefined;
}) {
  const { kinds, match, values, typed = {} } = group;
  const offered = fieldsOf(kinds).map(({ name }) => name);
  const set = (name: string, items: readonly string[], text: string) => {
    const { [name]: _, ...others } = values;
    const { [name]: __, ...otherTexts } = typed;
    const texts = text.trim() === "" ? otherTexts : { ...otherTexts, [name]: text };
    onChange({
      kinds,
      match,
      values: items.length === 0 ? others : { ...values, [name]: items },
      // A filter without any is the same as one that never had any.
      ...(Object.keys(texts).length > 0 && { typed: texts }),
    });
  };
  return (
    <div class="stack filter">
      <fieldset>
        <legend>What</legend>
        <div class="checks even">
          {EVENT_KINDS.map((kind) => (
            <label key={kind}>
              <input
                type="checkbox"
                name={`kind-${at}`}
                value={kind}
                checked={kinds.includes(kind)}
                disabled={taken.includes(kind)}
                aria-invalid={problems[""] !== undefined}
                onChange={({ currentTarget }) =>
                  onChange({
                    ...group,
                    kinds: EVENT_KINDS.filter((one) =>
                      one === kind ? currentTarget.checked : kinds.includes(one),
                    ),
                  })
                }
              />
              {kind}
            </label>
          ))}
        </div>
        {problems[""] !== undefined && <p class="problem">{problems[""]}</p>}
      </fieldset>
      {GROUPS.map((title) => {
        // What has a value stays, so that it can be seen and cleared.
        const fields = FILTER_FIELDS.filter(
          ({ group: of, name }) =>
            of === title &&
            (offered.includes(name) || values[name] !== undefined || typed[name] !== undefined),
        );
        if (fields.length === 0) return null;
        const isUsed = fields.some(({ name }) => values[name] !== undefined || typed[name] !== undefined);
        return (
          <details open={isUsed || title === "Who" || title === "Says"} key={title}>
            <summary>{title}</summary>
            <div class="fields">
              {fields.map((field) => (
                <FieldInput
                  field={field}
                  name={`${field.name}-${at}`}
                  values={values[field.name] ?? []}
                  typed={typed[field.name] ?? ""}
                  onChange={(items, text) => set(field.name, items, text)}
                  problem={problems[field.name]}
                  key={field.name}
                />
              ))}
            </div>
          </details>
        );
      })}
      <div class="row wrap">
        <div class="checks grow" role="radiogroup" aria-label="Of these filters">
          {(["all", "any"] as const).map((value) => (
            <label key={value}>
              <input
                type="radio"
                name={`match-${at}`}
                checked={(match ?? "all") === value}
                onChange={() => onChange({ ...group, match: value === "any" ? "any" : undefined })}
              />
              {value === "all" ? "all must match" : "any may match"}
            </label>
          ))}
        </div>
        {onRemove && (
          <button type="button" class="btn" onClick={onRemove}>
            Remove this filter
          </button>
        )}
      </div>
    </div>
  );
}
