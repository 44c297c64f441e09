import { useEffect, useRef, useState } from "preact/hooks";
import type { Severity } from "../../../checks/check.ts";
import type { ChannelReport, ChannelTerms, NamedCheck } from "../../../notices/report.ts";
import { Outcome, useAction } from "../owner/action.tsx";
import { Checkbox, Field, Radios } from "../parts/form.tsx";
import { focusHeading } from "../parts/page-head.tsx";
import { TITLES } from "../text/en/incidents.ts";
import * as msg from "../text/en/operator/notices.ts";
import { saidIn } from "../text/format.ts";

/** The time zone of this browser. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The input for who is notified of which incidents, and when. */
export interface TermTexts {
  readonly label: string;
  readonly severity: Severity;
  readonly quiet: string;
  /** Empty for all checks. */
  readonly checks: readonly string[];
}

/** @param zone the time zone of the quiet hours. */
export const termsOf = ({ label, severity, quiet, checks }: TermTexts, zone: string): ChannelTerms => ({
  label: label.trim(),
  severity,
  checks,
  // Empty removes the quiet hours of a channel that is changed.
  quiet_hours: quiet.trim(),
  ...(quiet.trim() !== "" && { zone }),
});

/** Which incidents a channel gets, and when it does not. */
export function Terms(props: { channel: ChannelReport; checks: readonly NamedCheck[] }) {
  const { channel, checks } = props;
  const { severity, quiet_hours: hours } = channel;
  const titles = channel.checks.map((id) =>
    saidIn(TITLES, checks.find(({ check }) => check === id)?.title ?? id),
  );
  return (
    <div>
      {msg.FROM[severity]}
      {titles.length > 0 && msg.onlyKinds(titles.join(", "))}
      {hours !== null && msg.quietFor(<bdi>{hours}</bdi>)}
    </div>
  );
}

/** @param id distinguishes it from another form on the page. */
export function TermFields(props: {
  id: string;
  texts: TermTexts;
  checks: readonly NamedCheck[];
  zone: string;
  onChange: (change: Partial<TermTexts>) => void;
}) {
  const { id, texts, checks, zone, onChange } = props;
  const chosen = new Set(texts.checks);
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
      <details>
        <summary>
          {msg.kinds(chosen.size === 0 ? msg.allKinds : msg.someKinds(chosen.size, checks.length))}
        </summary>
        <fieldset class="stack tight">
          <legend class="s dim">{msg.kindsHint}</legend>
          {checks.map(({ check, title }) => (
            <Checkbox
              class="row tight"
              key={check}
              checked={chosen.has(check)}
              onChange={(isChosen) =>
                onChange({
                  checks: checks
                    .map((one) => one.check)
                    .filter((one) => (one === check ? isChosen : chosen.has(one))),
                })
              }
            >
              {saidIn(TITLES, title)}
            </Checkbox>
          ))}
        </fieldset>
      </details>
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

/** Edits who is notified of which incidents, and when. */
export function EditChannel(props: {
  channel: ChannelReport;
  checks: readonly NamedCheck[];
  edit: (channel: ChannelReport, terms: ChannelTerms) => Promise<unknown>;
  onSaved: () => void;
  onClose: () => void;
}) {
  const { channel, checks, edit, onSaved, onClose } = props;
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
        checks={checks}
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
