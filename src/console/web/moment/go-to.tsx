import { useState } from "preact/hooks";
import { typedTime } from "../../../lib/iso-time.ts";
import type { HistoryLanes } from "../data/call.ts";
import { Field } from "../parts/form.tsx";
import * as msg from "../text/en/moment.ts";
import { formatCount } from "../text/format.ts";
import { sumsOf } from "./lanes.tsx";
import type { Selection, TimeWindow } from "./window.ts";

export const FAR = 10;

/** Describes the content of a selection in words. @param counted the exact number of events, if known. */
export function whatIn(page: HistoryLanes, selection: Selection, counted?: number): string {
  const { events, failed, errors, warnings } = sumsOf(page, selection);
  const parts = [msg.countEvents(counted ?? events)];
  if (failed > 0) parts.push(msg.countFailed(failed));
  if (errors > 0) parts.push(`${formatCount(errors)} ${msg.errors}`);
  if (warnings > 0) parts.push(msg.countWarnings(warnings));
  return parts.join(", ");
}

export function GoTo({
  window,
  select,
}: {
  window: TimeWindow;
  select: (selection: Selection | undefined) => void;
}) {
  const [text, setText] = useState("");
  const [isWrong, setWrong] = useState(false);
  return (
    <form
      class="row tight"
      onSubmit={(event) => {
        event.preventDefault();
        const at = typedTime(msg.asTyped(text), Date.now());
        setWrong(at === undefined);
        if (at !== undefined) select({ from: at, to: at + Math.ceil((window.to - window.from) / 24) });
      }}
    >
      <Field
        label={msg.goTo}
        name="moment"
        value={text}
        onInput={setText}
        placeholder={msg.goToHint}
        problem={isWrong ? msg.noTime : undefined}
      />
    </form>
  );
}
