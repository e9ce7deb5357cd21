import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A server that nobody has a reason to talk to. */
export interface Listener {
  /** Without a path. */
  url: string;
  /** What arrived, with headers and body, in order. */
  readonly visits: readonly { path: string; text: string }[];
  close(): Promise<void>;
}

/** Starts the stranger's server on loopback. It writes down whatever arrives, and answers nothing of use. */
export async function startListener(): Promise<Listener> {
  const visits: { path: string; text: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const visit = { path: request.url ?? "", text: JSON.stringify(request.rawHeaders) };
    visits.push(visit);
    request.setEncoding("utf8").on("data", (part: string) => {
      visit.text += part;
    });
    request.on("end", () => response.writeHead(418).end("{}"));
  });
  server.on("connect", (request, socket) => {
    visits.push({ path: `proxy ${request.url}`, text: JSON.stringify(request.rawHeaders) });
    socket.end("HTTP/1.1 418 no\r\n\r\n");
  });
  server.on("clientError", (_error, socket) => {
    visits.push({ path: "not http", text: "" });
    socket.destroy();
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
