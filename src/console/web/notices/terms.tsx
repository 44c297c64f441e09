import { useEffect, useRef, useState } from "preact/hooks";
import type { Severity } from "../../../checks/check.ts";
import type { ChannelReport, ChannelTerms } from "../../../notices/report.ts";
import { Outcome, useAction } from "../owner/action.tsx";
import { Field, Radios } from "../parts/form.tsx";
import { focusHeading } from "../parts/page-head.tsx";
import * as msg from "../text/en/operator/notices.ts";

/** That of this browser. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What is typed about who is called for which incidents, and when. */
export interface TermTexts {
  readonly label: string;
  readonly severity: Severity;
  readonly quiet: string;
}

/** @param zone of the hours. */
export const termsOf = ({ label, severity, quiet }: TermTexts, zone: string): ChannelTerms => ({
  label: label.trim(),
  severity,
  // Empty ends the hours of a channel that is changed.
  quiet_hours: quiet.trim(),
  ...(quiet.trim() !== "" && { zone }),
});

/** @param id apart from that of another form on the page. */
export function TermFields(props: {
  id: string;
  texts: TermTexts;
  zone: string;
  onChange: (change: Partial<TermTexts>) => void;
}) {
  const { id, texts, zone, onChange } = props;
  return (
    <>
      <Field
        label={msg.name}
        name={`${id}-label`}
        value={texts.label}
        onInput={(label) => onChange({ label })}
        placeholder={msg.myPhone}
      />
      <fieldset class="stack tight">
        <legend>{msg.severity}</legend>
        <Radios
          name={`${id}-severity`}
          options={Object.entries(msg.FROM) as [Severity, string][]}
          value={texts.severity}
          onChange={(severity) => onChange({ severity })}
        />
      </fieldset>
      <Field
        label={msg.quietHours}
        name={`${id}-quiet`}
        value={texts.quiet}
        onInput={(quiet) => onChange({ quiet })}
        hint={msg.quietHoursHint(zone)}
      />
    </>
  );
}

/** Edits who is called for which incidents, and when. */
export function EditChannel(props: {
  channel: ChannelReport;
  edit: (channel: ChannelReport, terms: ChannelTerms) => Promise<unknown>;
  onSaved: () => void;
  onClose: () => void;
}) {
  const { channel, edit, onSaved, onClose } = props;
  const action = useAction();
  const [hours = "", zone = ZONE] = channel.quiet_hours?.split(" ") ?? [];
  const [texts, setTexts] = useState<TermTexts>({ ...channel, quiet: hours });
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector("input")?.focus();
    return focusHeading;
  }, []);
  return (
    <form
      ref={form}
      class="pad stack"
      aria-label={msg.edit}
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(async () => {
          await edit(channel, termsOf(texts, zone));
          onSaved();
          onClose();
          return undefined;
        });
      }}
    >
      <h3>{msg.editChannel(<bdi>{channel.label}</bdi>)}</h3>
      <TermFields
        id="notice-edit"
        texts={texts}
        zone={zone}
        onChange={(more) => setTexts({ ...texts, ...more })}
      />
      <Outcome action={action} />
      <p class="row wrap">
        <button
          type="submit"
          class="btn go"
          disabled={texts.label.trim() === ""}
          aria-disabled={action.isBusy}
        >
          {msg.save}
        </button>
        <button type="button" class="btn" onClick={onClose}>
          {msg.cancel}
        </button>
      </p>
    </form>
  );
}
