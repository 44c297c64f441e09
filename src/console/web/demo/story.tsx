import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Story, StoryStep } from "../../demo/story-report.ts";
import { PhoneToast } from "../content/notification.tsx";
import { callOf, type StoryStepKey, StorySteps } from "../content/story-steps.tsx";
import { Icon } from "../icons/icons.tsx";
import { ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { pageConfig } from "../page-config.ts";
import { Pill } from "../parts/pill.tsx";
import * as msg from "../text/en/demo/story.ts";
import { oneClickFiveCalls, STORY_STEPS, theirPhonesAreQuiet } from "../text/en/landing.ts";
import { formatDuration } from "../text/format.ts";
import { GenerateActivity } from "./add-people.tsx";
import type { StoryRun } from "./run-story.ts";

const STEPS = Object.keys(STORY_STEPS) as StoryStepKey[];
/** The steps are ticked off one after another, in the order in which they were made. */
const TICK_MS = 250;

function Step({ name, step }: { name: StoryStepKey; step: StoryStep | undefined }) {
  return (
    <>
      <span class="row tight">
        <Pill {...(step && { kind: "ok" as const })}>{step ? msg.done : STEPS.indexOf(name) + 1}</Pill>
        <b class="grow">{STORY_STEPS[name]}</b>
        {step && <span class="dim xs">{formatDuration(step.ms)}</span>}
      </span>
      <details class="xs">
        <summary class="dim mono">{step?.call ?? callOf(name)}</summary>
        {step?.body && <pre>{JSON.stringify(step.body, null, 2)}</pre>}
      </details>
    </>
  );
}

const campaignPage = ({ campaign_id: id }: Story) => `/console/manage/campaigns/${id}`;

/** Runs a push from its app to the phones of 25 people and to a receiver that verifies it, without a prompt, and shows each call. */
export function StoryCard() {
  const [run, setRun] = useState<StoryRun>();
  const [ticked, setTicked] = useState(0);
  const action = useAction();
  const { route } = useLocation();
  const { story, becomeItsPerson } = run ?? {};
  const isDone = story !== undefined && ticked >= STEPS.length;
  useEffect(() => {
    if (!story || isDone) return;
    const timer = setTimeout(() => setTicked(ticked + 1), TICK_MS);
    return () => clearTimeout(timer);
  }, [story, ticked]);
  const start = () =>
    action.run(async () => {
      const { runStory } = await import("./run-story.ts");
      setRun(await runStory());
      setTicked(0);
      return undefined;
    });
  const open = (event: Event) => {
    event.preventDefault();
    if (story && becomeItsPerson) void becomeItsPerson().then(() => route(campaignPage(story)));
  };
  // The click that loaded this module requested the story.
  useEffect(() => void start(), []);
  const done = STEPS.slice(0, story ? ticked : 0);
  return (
    <section class="card" aria-labelledby="story">
      <header>
        <h2 class="grow" id="story">
          {oneClickFiveCalls}
        </h2>
        <ActionButton action={action} onClick={start} kind="go">
          <Icon name="bell" size={16} /> {msg.buzzThemAgain}
        </ActionButton>
      </header>
      <div class="pad">
        <StorySteps
          step={(name) => (
            <Step
              name={name}
              step={done.includes(name) ? story?.steps.find(({ key }) => key === name) : undefined}
            />
          )}
          phone={
            <>
              <PhoneToast
                clock={msg.CLOCK}
                icon={<span class="face">{msg.APP.slice(0, 1)}</span>}
                title={msg.APP}
                body={isDone ? msg.TEXT : theirPhonesAreQuiet}
                when={<span class="xs dim">{msg.now}</span>}
              />
              <p class="s outcome" role="status">
                {isDone && msg.notified(story.notified, story.verified)}{" "}
                {isDone && pageConfig.manage && becomeItsPerson && (
                  <a href={campaignPage(story)} onClick={open}>
                    {msg.openThisCampaign}
                  </a>
                )}
              </p>
            </>
          }
        />
      </div>
      <div class="pad">
        <GenerateActivity />
      </div>
      <Outcome action={action} />
    </section>
  );
}
