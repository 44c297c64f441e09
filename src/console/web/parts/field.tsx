import type { ComponentChildren } from "preact";

export interface FieldProps {
  readonly label: string;
  /** Unique on the page. */
  readonly name: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "url" | "number" | "search" | "password" | "date";
  readonly hint?: ComponentChildren;
  /** What is wrong with the value, in the words of the API where it said so. */
  readonly problem?: string | undefined;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly required?: boolean;
}

/** Gives a field with a problem the focus, also one in a folded part of its form. */
export function focusField(field: HTMLElement | null | undefined): void {
  for (let part = field?.closest("details"); part; part = part.parentElement?.closest("details"))
    part.open = true;
  field?.focus();
}

/** A labelled input with its hint and its problem beside it. With `rows` it is a text area. */
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
    <div class="field">
      <label for={name}>{label}</label>
      {rows === undefined ? (
        <input type={(props.type ?? "text") as "text"} autoComplete="off" spellcheck={false} {...shared} />
      ) : (
        <textarea rows={rows} {...shared} />
      )}
      <div class="hint" id={`${name}-hint`}>
        {problem === undefined ? <span>{hint}</span> : <span class="problem">{problem}</span>}
      </div>
    </div>
  );
}
