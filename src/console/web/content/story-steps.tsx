import type { ComponentChildren } from "preact";
import { apiPrefix } from "../page-config.ts";
import { STORY_STEPS } from "../text/en/landing.ts";

export type StoryStepKey = keyof typeof STORY_STEPS;

const CALLS: Readonly<Record<StoryStepKey, string>> = {
  session: "/session",
  app: "/frame/app",
  people: "/frame/webhook/…",
  send: "/frame/notifications/…",
  delivery: "/webhook/test",
};

/** Returns the call of a step before it is made. */
export const callOf = (key: StoryStepKey) => `POST ${apiPrefix}${CALLS[key]}`;

/** The steps of the story with their calls, next to the results. The size is the same before and after the code has loaded. */
export function StorySteps(props: {
  step: (key: StoryStepKey, at: number) => ComponentChildren;
  phone: ComponentChildren;
}) {
  const { step, phone } = props;
  return (
    <div class="story">
      <ol class="stack">
        {(Object.keys(STORY_STEPS) as StoryStepKey[]).map((key, at) => (
          <li class="stack tight" key={key}>
            {step(key, at)}
          </li>
        ))}
      </ol>
      <div class="stack">{phone}</div>
    </div>
  );
}
