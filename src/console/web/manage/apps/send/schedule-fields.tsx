import { type Draft, type FieldSpec, problemsOf } from "../../../parts/fields.ts";
import { Checkbox, Fields, Labelled, Radios } from "../../../parts/form.tsx";
import * as msg from "../../../text/en/manage/schedules.ts";
import { plainName } from "../../../text/name.ts";

export const SCHEDULE_FIELDS = [
  { name: "time", label: msg.time, kind: "moment" },
  { name: "quiet_from", label: msg.quietFrom, kind: "time", hint: msg.notBeforeTheEnd },
  { name: "quiet_to", label: msg.quietTo, kind: "time", hint: msg.onQuarter },
  { name: "second_title", label: msg.secondTitle, maxChars: 32 },
  { name: "second_body", label: msg.secondText, maxChars: 128, rows: 3 },
] as const satisfies readonly FieldSpec[];
const [TIME, QUIET_FROM, QUIET_TO, ...SECOND] = SCHEDULE_FIELDS;

/** When and how a send is made, as in the form. */
export type ScheduleDraft = Draft<typeof SCHEDULE_FIELDS> & {
  readonly at: "now" | "time" | "local";
  readonly segment_id: string;
  readonly tracks: boolean;
  /** Whether half of the people get a second text. */
  readonly compares: boolean;
};

export const emptySchedule: ScheduleDraft = {
  at: "now",
  time: "",
  quiet_from: "",
  quiet_to: "",
  second_title: "",
  second_body: "",
  segment_id: "",
  tracks: true,
  compares: false,
};

type ScheduleProblems = Partial<Record<(typeof SCHEDULE_FIELDS)[number]["name"], string>>;

const MAX_AHEAD_MS = 30 * 86_400_000;

/** Returns what the node would refuse, as sentences by field. */
export function scheduleProblems(draft: ScheduleDraft, nowMs = Date.now()): ScheduleProblems {
  const { at, time, quiet_from, quiet_to } = draft;
  const problems: ScheduleProblems = draft.compares ? { ...problemsOf([...SECOND], draft) } : {};
  if (draft.compares && draft.second_title === "" && draft.second_body === "")
    problems.second_title = msg.oneOfBothDiffers;
  const ahead = new Date(time).getTime() - nowMs;
  if (at !== "now" && !(ahead > 0 && ahead <= MAX_AHEAD_MS)) problems.time = msg.aTimeAhead;
  else if (at === "local" && !/:(00|15|30|45)$/.test(time)) problems.time = msg.onAQuarterHour;
  if ((quiet_from === "") !== (quiet_to === "")) problems.quiet_to = msg.timesMissing;
  else if (quiet_to !== "" && !/:(00|15|30|45)$/.test(quiet_to)) problems.quiet_to = msg.onAQuarterHour;
  return problems;
}

const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the fields of the request. */
export function scheduleOf(draft: ScheduleDraft) {
  const { at, time, quiet_from, quiet_to, second_title, second_body, segment_id, tracks, compares } = draft;
  const second = {
    ...(second_title !== "" && { title: second_title }),
    ...(second_body !== "" && { body: second_body }),
  };
  const isInZones = at === "local" || quiet_from !== "";
  return {
    ...(at === "time" && { send_at: Math.floor(new Date(time).getTime() / 1000) }),
    ...(at === "local" && { local_time: time }),
    ...(isInZones && { time_zone: zone() }),
    ...(quiet_from !== "" && { quiet_hours: { from: quiet_from, to: quiet_to } }),
    ...(compares && { variants: [{}, second] }),
    ...(segment_id !== "" && { segment_id }),
    ...(tracks && { track_opens: true }),
  };
}

/** Returns when it is sent, in words; undefined if at once. */
export function whenOf({ at, time }: ScheduleDraft): string | undefined {
  if (at === "now") return undefined;
  const shown = time.replace("T", " ");
  return at === "local" ? msg.onEachClock(shown) : `${shown} (${zone()})`;
}

/** Returns what half of the people get instead, in a few words; undefined if all get the same text. */
export function secondOf({ compares, second_title, second_body }: ScheduleDraft): string | undefined {
  return compares ? second_title || second_body : undefined;
}

interface Props {
  readonly draft: ScheduleDraft;
  readonly onChange: (draft: ScheduleDraft) => void;
}

interface SegmentProps extends Props {
  readonly segments: readonly { readonly segment_id: string; readonly name: string }[];
}

/** The choice of the saved filter that recipients must match. */
export function SegmentChoice({ segments, draft, onChange }: SegmentProps) {
  return (
    <Labelled id="send-segment" label={msg.segment}>
      <select
        id="send-segment"
        value={draft.segment_id}
        onChange={({ currentTarget }) => onChange({ ...draft, segment_id: currentTarget.value })}
      >
        <option value="">{msg.noSegment}</option>
        {segments.map(({ segment_id, name }) => (
          <option value={segment_id} key={segment_id}>
            {plainName(name)}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** The part of the form for the time, the quiet hours and the texts. */
export function ScheduleFields({ draft, onChange }: Props) {
  const problems = scheduleProblems(draft);
  const hint = draft.at === "local" ? msg.onAQuarter : msg.inYourZone(zone());
  const { quiet_from, compares } = draft;
  return (
    <fieldset>
      <legend>{msg.when}</legend>
      <Radios
        name="send-when"
        options={[
          ["now", msg.now],
          ["time", msg.atATime],
          ["local", msg.onTheirClock],
        ]}
        value={draft.at}
        onChange={(at) => onChange({ ...draft, at })}
      />
      {draft.at !== "now" && (
        <Fields
          form="send"
          fields={[{ ...TIME, hint }]}
          draft={draft}
          problems={problems}
          onChange={onChange}
        />
      )}
      <details open={quiet_from !== "" || compares}>
        <summary>{msg.options}</summary>
        <div class="stack">
          <div class="three">
            <Fields
              form="send"
              fields={[QUIET_FROM, QUIET_TO]}
              draft={draft}
              problems={problems}
              onChange={onChange}
            />
          </div>
          <div class="checks column">
            <Checkbox class="s" checked={compares} onChange={(on) => onChange({ ...draft, compares: on })}>
              <span>
                <b>{msg.compareTwoTexts}</b> <span class="dim">{msg.halfGetsIt}</span>
              </span>
            </Checkbox>
            <Checkbox class="s" checked={draft.tracks} onChange={(tracks) => onChange({ ...draft, tracks })}>
              <span>
                <b>{msg.countOpens}</b> <span class="dim">{msg.linksGetAParameter}</span>
              </span>
            </Checkbox>
          </div>
          {compares && (
            <Fields form="send" fields={SECOND} draft={draft} problems={problems} onChange={onChange} />
          )}
        </div>
      </details>
    </fieldset>
  );
}
