import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Tabs, tabPanelProps } from "../parts/page-head.tsx";
import * as msg from "../text/en/parts.ts";
import { UserName, UserText } from "../text/user-text.tsx";
import { AppFace } from "./face.tsx";

/** A notification as on a phone's lock screen, below the clock, with the icon of its app. */
export function PhoneToast(props: {
  clock: string;
  icon: ComponentChildren;
  title: string;
  body: string;
  when: ComponentChildren;
}) {
  const { clock, icon, title, body, when } = props;
  return (
    <div class="phone">
      <span class="clock" aria-hidden="true">
        {clock}
      </span>
      <div class="toast" data-toast>
        {icon}
        <b>
          <UserName name={title} />
        </b>
        {when}
        <p>
          <UserText text={body} runs={[{ kind: "text", text: body }]} />
        </p>
      </div>
    </div>
  );
}

const VIEWS = [
  { id: "phone", label: msg.phone },
  { id: "app", label: msg.inApp },
] as const;

/** A notification as people see it: on the phone, and in a client's list. */
export function NotificationPreview(props: { appId: string; appName: string; title: string; body: string }) {
  const { appId, appName, title, body } = props;
  const [view, setView] = useState<(typeof VIEWS)[number]["id"]>("phone");
  const shownTitle = title === "" ? msg.title : title;
  const shownBody = body === "" ? msg.message : body;
  return (
    <section class="card" aria-labelledby="preview" data-preview>
      <header>
        <h2 class="grow" id="preview">
          {msg.preview}
        </h2>
        <Tabs label={msg.where} name="preview" tabs={VIEWS} selected={view} onSelect={setView} />
      </header>
      <div class="pad" {...tabPanelProps("preview", view)}>
        {view === "phone" ? (
          <PhoneToast
            clock="9:41"
            icon={<AppFace appId={appId} name={appName} size={2.25} />}
            title={shownTitle}
            body={shownBody}
            when={<span class="xs dim">{msg.now}</span>}
          />
        ) : (
          <div class="inapp">
            <AppFace appId={appId} name={appName} size={2.25} />
            <div class="grow">
              <b>
                <UserName name={shownTitle} />
              </b>
              <div class="s dim">
                <UserName name={appName} />
              </div>
            </div>
            <span class="xs dim">{msg.now}</span>
            <p>
              <UserText text={shownBody} runs={[{ kind: "text", text: shownBody }]} />
            </p>
          </div>
        )}
      </div>
    </section>
  );
}
