import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { RequestFailure } from "../data/request.ts";
import { Pill } from "../parts/pill.tsx";
import { Json } from "../parts/raw-text.tsx";
import * as msg from "../text/en/manage/login.ts";
import { UserText } from "../text/user-text.tsx";

/** A step of a sign-in: what the node or the wallet responded, or why it refused. */
export interface Step {
  readonly title: string;
  readonly state: "done" | "refused" | "waiting";
  /** The name of a refusal, in the form for programs. */
  readonly reason?: string | undefined;
  readonly text?: string | undefined;
  readonly value?: unknown;
  readonly more?: ComponentChildren;
}

/** Ends a run of steps; the step itself shows why. */
class Refused extends Error {}

const DECLINED = 4001;

function refusalOf(cause: unknown): Pick<Step, "reason" | "text"> {
  if (cause instanceof RequestFailure)
    return { reason: cause.code ?? String(cause.status), text: cause.message };
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  return { ...(code === DECLINED && { reason: String(DECLINED) }), text: String(message ?? cause) };
}

/** The result of a step: a value to show, or a refusal. */
export type Found<T> =
  | { readonly value: T; readonly shown?: unknown }
  | { readonly refusal: Pick<Step, "reason" | "text"> };

/** The steps of one sign-in in order, each shown once it has ended. */
export function useSteps() {
  const [steps, setSteps] = useState<readonly Step[]>([]);
  const [isBusy, setBusy] = useState(false);
  const put = (step: Step) => setSteps((all) => [...all.filter(({ title }) => title !== step.title), step]);
  return {
    steps,
    isBusy,
    put,
    /** Removes the step with this title and all later ones. */
    forgetFrom: (title: string) =>
      setSteps((all) => {
        const at = all.findIndex((step) => step.title === title);
        return at < 0 ? all : all.slice(0, at);
      }),
    /** Runs a step, shows its outcome, and returns its value. @throws Refused */
    async step<T>(title: string, work: () => Promise<Found<T>>): Promise<T> {
      const found = await work().catch((cause) => ({ refusal: refusalOf(cause) }));
      if ("refusal" in found) {
        put({ title, state: "refused", ...found.refusal });
        throw new Refused();
      }
      put({ title, state: "done", value: found.shown ?? found.value });
      return found.value;
    },
    /** Runs steps up to the first refusal, one run at a time. */
    async run(work: () => Promise<void>): Promise<void> {
      if (isBusy) return;
      setBusy(true);
      try {
        await work();
      } catch (cause) {
        if (!(cause instanceof Refused)) throw cause;
      } finally {
        setBusy(false);
      }
    },
  };
}

const PILLS = {
  done: ["ok", msg.done],
  refused: ["bad", msg.refused],
  waiting: ["warn", msg.waiting],
} as const;

/** The steps so far. */
export function Steps({ label, steps }: { label: string; steps: readonly Step[] }) {
  return (
    <ol class="stack" aria-label={label} aria-live="polite">
      {steps.map(({ title, state, reason, text, value, more }) => {
        const [kind, word] = PILLS[state];
        return (
          <li class="stack tight" data-step={state} key={title}>
            <p class="row wrap">
              <Pill kind={kind} live={state === "waiting"}>
                {word}
              </Pill>
              <b>{title}</b>
              {reason !== undefined && <code data-reason>{reason}</code>}
              {text !== undefined && (
                <span class="grow roomy">
                  <UserText text={text} />
                </span>
              )}
            </p>
            {more}
            {value !== undefined && <Json value={value} label={title} />}
          </li>
        );
      })}
    </ol>
  );
}
