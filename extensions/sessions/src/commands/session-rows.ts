/** Sessions in a list for a person, and finding the one that they name. */
import type { SessionInfo } from "../list.ts";
import { oneLine } from "../one-line.ts";

/** What is shown of an id: that of one that is made here tells the millisecond. */
const ID_CHARS = 13;
const TITLE_CHARS = 56;

/** Words a session in one line: when it was used last, what it is about, its id; `folder` adds where it was held. */
export function sessionLine(info: SessionInfo, { folder = false }: { folder?: boolean } = {}): string {
  const { id, cwd, messageCount, modifiedMs } = info;
  const count = messageCount === undefined ? "" : `  ${messageCount} messages`;
  const where = folder ? `  ${cwd}` : "";
  return oneLine(`${wordTime(modifiedMs)}  ${titleOf(info)}${count}${where}  (${id.slice(0, ID_CHARS)})`);
}

/** The name of a session, else how it began. */
export function titleOf({ name, firstMessage }: Pick<SessionInfo, "name" | "firstMessage">): string {
  const title = oneLine(name ?? firstMessage ?? "(no messages)");
  return title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS - 1)}…` : title;
}

/** A time as a person's clock shows it. */
function wordTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Finds the sessions that are meant: by id, by the path of their file, by the beginning of the id, by the whole name, else by a part of what is shown. */
export function matchSessions(sessions: readonly SessionInfo[], reference: string): SessionInfo[] {
  const wanted = reference.toLowerCase();
  const ways: ((info: SessionInfo) => boolean)[] = [
    ({ id, path }) => id === reference || path === reference,
    ({ id }) => id.startsWith(reference),
    ({ name }) => name?.toLowerCase() === wanted,
    ({ name, firstMessage }) => [name, firstMessage].some((text) => text?.toLowerCase().includes(wanted)),
  ];
  for (const isMeant of ways) {
    const found = sessions.filter(isMeant);
    if (found.length > 0) return found;
  }
  return [];
}
