// Records what TensorFlow.js itself computes from the published graph, for tests/vision/test_nanodet.py. In this folder:
//     npm install --no-save @tensorflow/tfjs-{core,converter,backend-cpu}@4.22.0
//     node record.js package/models/nanodet.json INPUT…
// INPUT is a file of 32-bit floats, [3, 416, 416]; beside it come INPUT.0 to INPUT.5: scores of the three grids, distances.
const fs = require("fs");
const tf = require("@tensorflow/tfjs-core");
require("@tensorflow/tfjs-backend-cpu");
const { loadGraphModel } = require("@tensorflow/tfjs-converter");

function floats(file) {
  const bytes = fs.readFileSync(file);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

async function main(graph, ...inputs) {
  await tf.setBackend("cpu");
  const { weightsManifest, ...published } = JSON.parse(fs.readFileSync(graph));
  const weights = { weightSpecs: weightsManifest[0].weights, weightData: floats(graph.replace(/json$/, "bin")) };
  const model = await loadGraphModel({ load: async () => ({ ...published, ...weights }) });
  const names = ["Identity:0", "Identity_1:0", "Identity_2:0", "Identity_3:0", "Identity_4:0", "Identity_5:0"];
  for (const input of inputs) {
    const outputs = model.execute(tf.tensor(new Float32Array(floats(input)), [1, 3, 416, 416]), names);
    outputs.forEach((one, number) => fs.writeFileSync(`${input}.${number}`, Buffer.from(one.dataSync().buffer)));
  }
}

main(...process.argv.slice(2));
