// template.yaml as data, with CloudFormation's short forms (`!Ref X`) written out (`{ Ref: "X" }`).
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const root = fileURLToPath(new URL("..", import.meta.url));

const functions = ["Sub", "If", "Equals", "Not", "And", "Or", "Join", "Select", "Split", "FindInMap"];

const longForm = (name) => (name === "Ref" || name === "Condition" ? name : `Fn::${name}`);

const text = (name) => ({
  tag: `!${name}`,
  resolve: (value) => ({ [longForm(name)]: value }),
});

const list = (name) => ({
  tag: `!${name}`,
  collection: "seq",
  resolve: (items) => ({ [longForm(name)]: items.toJSON() }),
});

const getAtt = {
  tag: "!GetAtt",
  resolve(value) {
    const dot = value.indexOf(".");
    return { "Fn::GetAtt": [value.slice(0, dot), value.slice(dot + 1)] };
  },
};

const customTags = [text("Ref"), text("Condition"), getAtt, ...functions.flatMap((f) => [text(f), list(f)])];

export function readTemplate() {
  return parse(readFileSync(`${root}template.yaml`, "utf8"), { customTags, merge: false });
}
