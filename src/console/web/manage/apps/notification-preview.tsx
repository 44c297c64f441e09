import { useState } from "preact/hooks";
import { AppFace } from "../../parts/app-face.tsx";
import { PhoneToast } from "../../parts/notification-toast.tsx";
import { Tabs, tabPanelProps } from "../../parts/tabs.tsx";
import { UserName } from "../../text/user-name.tsx";
import { UserText } from "../../text/user-text.tsx";

const VIEWS = [
  { id: "phone", label: "Phone" },
  { id: "app", label: "In app" },
] as const;

/** What people see of a notification: on the phone, and in the list of a client. */
export function NotificationPreview({
  appId,
  appName,
  title,
  body,
}: {
  appId: string;
  appName: string;
  title: string;
  body: string;
}) {
  const [view, setView] = useState<(typeof VIEWS)[number]["id"]>("phone");
  const shownTitle = title === "" ? "Title" : title;
  const shownBody = body === "" ? "What you have to say." : body;
  return (
    <section class="card" aria-labelledby="preview" data-preview>
      <header>
        <h2 class="grow" id="preview">
          What people see
        </h2>
        <Tabs label="Where" name="preview" tabs={VIEWS} selected={view} onSelect={setView} />
      </header>
      <div class="pad" {...tabPanelProps("preview", view)}>
        {view === "phone" ? (
          <PhoneToast
            clock="9:41"
            icon={<AppFace appId={appId} name={appName} size={2.25} />}
            title={shownTitle}
            body={shownBody}
            when={<span class="xs dim">now</span>}
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
            <span class="xs dim">now</span>
            <p>
              <UserText text={shownBody} runs={[{ kind: "text", text: shownBody }]} />
            </p>
          </div>
        )}
      </div>
    </section>
  );
}
