// Personalizer's own clients, against gbose serve. Usage: node personalizer.mjs ADDRESS KEY
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.env.GBOSE_NPM + "/");
const [address, key] = process.argv.slice(2);

const request = (hour) => ({
  contextFeatures: [{ timeOfDay: hour }, { device: { os: "ios", width: 375 } }],
  actions: [
    { id: "pasta", features: [{ taste: "salty", spice: 1 }, { nutrition: { calories: 700 } }] },
    { id: "cake", features: [{ taste: "sweet" }] },
    { id: "salad", features: [{ taste: "sour", green: true }] },
  ],
});

function isRanking(answer, ids) {
  assert.deepEqual(answer.ranking.map((r) => r.id), ids);
  assert.ok(Math.abs(answer.ranking.reduce((sum, r) => sum + r.probability, 0) - 1) < 1e-9);
  assert.ok(ids.includes(answer.rewardActionId));
}

// The client of v1.0.
{
  const { PersonalizerClient } = require("@azure/cognitiveservices-personalizer");
  const { ApiKeyCredentials } = require("@azure/ms-rest-js");
  const client = new PersonalizerClient(new ApiKeyCredentials({ inHeader: { "Ocp-Apim-Subscription-Key": key } }), address);
  const ids = ["pasta", "cake", "salad"];
  const first = await client.rank({ ...request("morning"), eventId: "old-1" });
  isRanking(first, ids);
  assert.equal(first.eventId, "old-1");
  assert.deepEqual((await client.rank({ ...request("morning"), eventId: "old-1" })).ranking, first.ranking);
  await client.events.reward("old-1", { value: 0.5 });
  const deferred = await client.rank({ ...request("evening"), eventId: "old-2", deferActivation: true, excludedActions: ["cake"] });
  assert.equal(deferred.ranking[1].probability, 0);
  assert.notEqual(deferred.rewardActionId, "cake");
  await client.events.activate("old-2");
  await client.events.reward("old-2", { value: 1 });
  await assert.rejects(client.events.reward("nobody", { value: 1 }));
  await client.rank({ ...request("noon"), eventId: "shop/a b%2F?" }); // a name that must be escaped in a path
  await client.events.reward("shop/a b%2F?", { value: 1 });
  const own = await client.rank(request("noon"));
  await client.events.reward(own.eventId, { value: -1 });
}

// The client of v1.1.
{
  const createClient = require("@azure-rest/ai-personalizer").default;
  const { isUnexpected } = require("@azure-rest/ai-personalizer");
  const { AzureKeyCredential } = require("@azure/core-auth");
  const client = createClient(address, new AzureKeyCredential(key), { allowInsecureConnection: true });
  const answer = await client.path("/rank").post({ body: { ...request("night"), eventId: "new-1" } });
  assert.ok(!isUnexpected(answer), JSON.stringify(answer.body));
  assert.equal(answer.status, "201");
  isRanking(answer.body, ["pasta", "cake", "salad"]);
  const told = await client.path("/events/{eventId}/reward", "new-1").post({ body: { value: 1 } });
  assert.equal(told.status, "204");
  const active = await client.path("/events/{eventId}/activate", "new-1").post();
  assert.equal(active.status, "204");
  const wrong = await client.path("/rank").post({ body: { actions: [] } });
  assert.ok(isUnexpected(wrong) && wrong.status === "400");
}
console.log("both clients are fine");
