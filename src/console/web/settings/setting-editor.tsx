import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { SettingInForce } from "../../operator/reports.ts";
import type { Action } from "../owner/action.tsx";
import { Field, Labelled } from "../parts/form.tsx";
import { RawText } from "../parts/raw-text.tsx";
import * as msg from "../text/en/operator/settings.ts";

const MAX_VALUE_CHARS = 300;

/** Formats a value on one line, truncated. */
export function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}

/** Returns the text of a field that edits a value; a list has one item per line. */
const fieldText = (value: unknown) => (Array.isArray(value) ? value.join("\n") : String(value));

/** Returns the value of a field's text. A text of the wrong form is sent unchanged, so that the node refuses it. */
function typedValue({ default: usual, rule }: SettingInForce, text: string): unknown {
  if (Array.isArray(usual)) {
    const items = text.split("\n").flatMap((line) => line.trim() || []);
    return rule.includes("fids") ? items.map((item) => (/^\d+$/.test(item) ? Number(item) : item)) : items;
  }
  if (typeof usual === "number") return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
  return typeof usual === "boolean" ? text === "true" : text;
}

/** Returns the section and the line of a value in a file. */
export const lineOf = (key: string, value: unknown) => {
  const [section = "", name = ""] = key.split(".");
  return { section: `[${section}]`, line: `${name} = ${JSON.stringify(value)}` };
};

/** Returns the effect of a change on the file. */
function diffOf({ key, set }: SettingInForce, value: unknown): string {
  const { section, line } = lineOf(key, value);
  return [`  ${section}`, ...(set === undefined ? [] : [`- ${lineOf(key, set).line}`]), `+ ${line}`].join(
    "\n",
  );
}

/** Edits the value of a setting, and shows what will be written. */
export function SettingEditor(props: {
  setting: SettingInForce;
  /** The valid values in words. */
  rule: string;
  file: string;
  action: Action;
  /** How the last attempt ended. */
  outcome: ComponentChildren;
  onSave: (value: unknown) => void;
  onCancel: () => void;
}) {
  const { setting, rule, file, action, outcome, onSave, onCancel } = props;
  const {
    key,
    default: usual,
    choices = typeof usual === "boolean" ? ["true", "false"] : undefined,
  } = setting;
  const current = setting.next ?? setting.value;
  const [text, setText] = useState(fieldText(current));
  const value = typedValue(setting, text);
  const isSame = JSON.stringify(value) === JSON.stringify(current);
  const label = msg.newValue(key);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSame) onSave(value);
      }}
    >
      {choices ? (
        <Labelled id="new-value" label={label}>
          <select id="new-value" value={text} onChange={({ currentTarget }) => setText(currentTarget.value)}>
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        </Labelled>
      ) : (
        <Field
          label={label}
          name="new-value"
          value={text}
          onInput={setText}
          hint={`${msg.mustBe(rule)}${Array.isArray(usual) ? ` ${msg.oneALine}.` : ""}`}
          {...(Array.isArray(usual) && { rows: 4 })}
        />
      )}
      {!isSame && (
        <div>
          <p class="s dim">{msg.whatChanges(<code>{file}</code>)}</p>
          <RawText text={diffOf(setting, value)} label={file} />
        </div>
      )}
      {outcome}
      <p class="row wrap">
        <button type="submit" class="btn go" disabled={isSame} aria-disabled={action.isBusy}>
          {msg.save}
        </button>
        <button type="button" class="btn" onClick={onCancel}>
          {msg.cancel}
        </button>
      </p>
    </form>
  );
}
