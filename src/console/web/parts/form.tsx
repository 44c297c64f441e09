import type { ComponentChildren } from "preact";
import * as msg from "../text/en/parts.ts";
import { charsOf, type Draft, type FieldSpec, type Problems } from "./fields.ts";

export interface FieldProps {
  readonly label: string;
  /** Unique on the page. */
  readonly name: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "url" | "number" | "search" | "password" | "date" | "datetime-local" | "time";
  readonly hint?: ComponentChildren;
  /** What is wrong with the value, in the API's words if it has refused it. */
  readonly problem?: string | undefined;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly required?: boolean;
}

/** Focuses a field with a problem, even in a folded part of its form. */
export function focusField(field: HTMLElement | null | undefined): void {
  for (let part = field?.closest("details"); part; part = part.parentElement?.closest("details"))
    part.open = true;
  field?.focus();
}

/** A label with its input, and a hint or problem, to which the input refers as `<id>-hint`. */
export function Labelled(props: {
  id: string;
  label: string;
  hint?: ComponentChildren;
  problem?: string | undefined;
  children: ComponentChildren;
}) {
  const { id, label, hint, problem, children } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      <div class="hint" id={`${id}-hint`}>
        {problem === undefined ? <span>{hint}</span> : <span class="problem">{problem}</span>}
      </div>
    </div>
  );
}

/** A labeled input with its hint and its problem. With `rows` it is a text area. */
export function Field(props: FieldProps) {
  const { label, name, value, onInput, hint, problem, rows } = props;
  const shared = {
    id: name,
    name,
    value,
    placeholder: props.placeholder,
    required: props.required,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${name}-hint`,
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
  return (
    <Labelled id={name} label={label} hint={hint} problem={problem}>
      {rows === undefined ? (
        <input type={(props.type ?? "text") as "text"} autoComplete="off" spellcheck={false} {...shared} />
      ) : (
        <textarea rows={rows} {...shared} />
      )}
    </Labelled>
  );
}

/** Folded details of a sheet: hashes, nonces, names of operations. */
export const TechnicalDetails = ({ children }: { children: ComponentChildren }) => (
  <details>
    <summary>{msg.technicalDetails}</summary>
    {children}
  </details>
);

/** A choice of one of several values, each with its label. */
export function Radios<Value extends string | number>(props: {
  /** Unique on the page. */
  name: string;
  options: readonly (readonly [value: Value, label: string])[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const { name, options, value, onChange } = props;
  return (
    <div class="checks">
      {options.map(([one, label]) => (
        <label key={one}>
          <input type="radio" name={name} checked={one === value} onChange={() => onChange(one)} />
          {label}
        </label>
      ))}
    </div>
  );
}

/** A checkbox with its label. */
export function Checkbox(props: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  isInvalid?: boolean;
  class?: string;
  /** The name, if `children` shows only its end. */
  name?: string;
  children: ComponentChildren;
}) {
  const { checked, onChange, disabled = false, isInvalid = false, class: className = "" } = props;
  const { name, children } = props;
  return (
    <label class={className}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-invalid={isInvalid}
        aria-label={name}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {children}
    </label>
  );
}

const INPUTS = {
  text: "text",
  url: "url",
  count: "number",
  day: "date",
  date: "date",
  moment: "datetime-local",
  time: "time",
  fid: "text",
  fids: "text",
  texts: "text",
} as const;

/** The inputs of declared fields. An empty one is not marked as a mistake yet; one without a hint counts its characters. */
export function Fields<const Specs extends readonly FieldSpec[], D extends Draft<Specs>>(props: {
  /** Prefix of the ids, unique on the page. */
  form: string;
  fields: Specs;
  draft: D;
  problems: Problems<Specs>;
  onChange: (draft: D) => void;
}) {
  const { form, fields, draft, problems, onChange } = props;
  const texts: Readonly<Record<string, string>> = draft;
  const faults: Readonly<Record<string, string | undefined>> = problems;
  return (
    <>
      {fields.map(({ name, label, kind = "text", isRequired, maxChars, hint, placeholder, rows }) => {
        const text = texts[name] ?? "";
        return (
          <Field
            key={name}
            label={label}
            name={`${form}-${name}`}
            type={INPUTS[kind]}
            value={text}
            onInput={(value) => onChange({ ...draft, [name]: value })}
            hint={
              hint ??
              (maxChars !== undefined && (
                <span data-count={name}>{msg.ofCharacters(charsOf(text), maxChars)}</span>
              ))
            }
            problem={text === "" ? undefined : faults[name]}
            {...(placeholder !== undefined && { placeholder })}
            {...(rows !== undefined && { rows })}
            {...(isRequired && { required: true })}
          />
        );
      })}
    </>
  );
}
