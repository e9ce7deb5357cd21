import { describe, expect, test } from "vitest";
import { parseAddress } from "../src/address.ts";
import { DatabaseError } from "../src/database.ts";

const GOOD: [string, Partial<ReturnType<typeof parseAddress>>][] = [
  ["postgres://u:p@h:6543/db", { host: "h", port: 6543, user: "u", password: "p", database: "db", sslMode: "prefer" }],
  ["postgresql://u:S3CRET%40x@127.0.0.1/db", { password: "S3CRET@x", port: 5432, name: "127.0.0.1:5432/db" }],
  ["POSTGRES://u@h", { database: "u", user: "u" }],
  ["postgres://u:p%23%2F%3F@h/d%20b", { password: "p#/?", database: "d b" }],
  ["postgres://h/db?user=u&password=p", { user: "u", password: "p" }],
  ["postgres://u@[::1]:5433/db", { host: "::1", port: 5433 }],
  ["postgres:///db?host=/run/postgresql", { host: "/run/postgresql", sslMode: "disable" }],
  ["postgres://u@h/db?sslmode=require", { sslMode: "require" }],
  [
    "postgres://u@h/db?sslmode=verify-full&sslrootcert=/ca.pem",
    { sslMode: "verify-full", sslFiles: { ca: "/ca.pem" } },
  ],
  ["postgres://u@h/db?options=endpoint%3Dx&channel_binding=require", { options: "endpoint=x" }],
];

/** Forms with something wrong about them: the rest may be the password, wherever it stands. */
const BAD = [
  "postgresql:/u:S3CRET@h/db",
  "postgress://u:S3CRET@h/db",
  "host=h user=u password=S3CRET dbname=db",
  "u:S3CRET@h/db",
  "postgres://u:S3CRET#x@h/db",
  "postgres://u:12?S3CRET@h/db",
  "postgres://u:12/S3CRET@h/db",
  "postgres://u:S3CRET/x@h/db",
  "postgres://u:S3CRET%zz@h/db",
  "postgres://u:S3CRET@h:99999/db",
  "postgres://u:S3CRET@h:0/db",
  "postgres://u:S3CRET@h/db?sslmode=S3CRET",
  "postgres://u:S3CRET@h/d%00b",
  "postgres://u:S3CRET@",
  "S3CRET",
];

describe("an address of a server", () => {
  for (const [text, expected] of GOOD) {
    test(`${text} is understood`, () => {
      expect(parseAddress(text)).toMatchObject(expected);
    });
  }

  for (const text of BAD) {
    test(`F161 ${text} is refused in words that show nothing of it`, () => {
      const error = caught(() => parseAddress(text));
      expect(error).toMatchObject({ code: "database_url", hint: expect.stringContaining("postgres://") });
      expect(`${error} ${error.stack} ${JSON.stringify(error)}`).not.toContain("S3CRET");
      expect(error.cause).toBeUndefined();
    });
  }
});

function caught(fn: () => unknown): DatabaseError {
  try {
    fn();
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
  return expect.unreachable();
}
