import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { address, fid, fidList, text } from "../../http/params.ts";
import { answer, presentUsers, type Reads } from "../../read/answers.ts";
import { presentUser } from "../../read/present/user.ts";
import { fidByCustodyAddress, fidByUsername } from "../../read/skeleton/users.ts";
import { UserResponse, UsersResponse } from "../objects.ts";

const tags = ["Users"];

/** `/user`, `/user/bulk`, `/user/by-username`, `/user/custody-address`, `/user/verifications`. */
export function userRoutes(reads: Reads) {
  const userOrNotFound = (find: () => number | undefined, message: string) => ({
    user: answer(
      reads,
      find,
      (found) => ({ fids: found === undefined ? [] : [found] }),
      (found, hydration) => {
        const user = found === undefined ? undefined : presentUser(found, hydration);
        if (!user) throw new ApiError("notFound", message);
        return user;
      },
    ),
  });

  const byUsername = (operationId: string) =>
    operation({
      operationId,
      summary: "The user of a name",
      description: "Matches a live fname, ENS name or basename exactly, case included.",
      tags,
      query: { username: text({ description: "Without a leading @", examples: ["user3"] }) },
      response: UserResponse,
      errors: ["notFound"],
    });
  const findByUsername = ({ query }: { query: { username: string } }) =>
    userOrNotFound(() => fidByUsername(reads.db, query.username), "no user has this name");

  return new Elysia({ name: "users" })
    .get(
      "/user",
      ({ query }) => userOrNotFound(() => query.fid, "no user has this fid"),
      operation({
        operationId: "getUser",
        summary: "One user",
        tags,
        query: { fid: fid() },
        response: UserResponse,
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/bulk",
      ({ query }) => ({
        users: answer(
          reads,
          () => query.fids,
          (fids) => ({ fids }),
          presentUsers,
        ),
      }),
      operation({
        operationId: "getUsers",
        summary: "Users by fid, in the order asked; those that do not exist are left out",
        tags,
        query: { fids: fidList({ maxItems: reads.maxIds }) },
        response: UsersResponse,
      }),
    )
    .get("/user/by-username", findByUsername, byUsername("getUserByUsername"))
    .get("/user/by_username", findByUsername, byUsername("getUserByUsernameAlias"))
    .get(
      "/user/custody-address",
      ({ query }) =>
        userOrNotFound(
          () => fidByCustodyAddress(reads.db, query.custody_address),
          "no user is in the custody of this address",
        ),
      operation({
        operationId: "getUserByCustodyAddress",
        summary: "The user whose custody address this is now; of several the one with the lowest fid",
        tags,
        query: { custody_address: address() },
        response: UserResponse,
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/verifications",
      ({ query }) => userOrNotFound(() => query.fid, "no user has this fid"),
      operation({
        operationId: "getUserVerifications",
        summary: "One user, for its verified addresses",
        tags,
        query: { fid: fid() },
        response: UserResponse,
        errors: ["notFound"],
      }),
    );
}
