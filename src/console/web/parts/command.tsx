import { CopyButton } from "./copy-button.tsx";

/** A command to copy. A line breaks between its words. */
export function Command({ text }: { text: string }) {
  return (
    <div class="api row command">
      <pre class="grow words">
        {text.split(" ").map((word, at) => (
          <>
            {at > 0 && " "}
            <span key={at}>{word}</span>
          </>
        ))}
      </pre>
      <CopyButton text={text} />
    </div>
  );
}
