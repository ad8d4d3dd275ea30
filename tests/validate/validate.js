// validate.js PELT WORK MODELS: writes the sample and, where MODELS exists, every model in it as
// `pelt skin` and `pelt sample` write them, and counts what the Khronos validator finds.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import validator from 'gltf-validator';

const [pelt, work, models] = process.argv.slice(2);
const run = promisify(execFile);

/** A model that pelt may refuse, by an error that names the extension. */
const REFUSABLE = /KHR_draco_mesh_compression|its scene has no mesh/;

/** Paths of all glTF files in a folder and below, sorted. */
function gltfFiles(folder)
{
    return readdirSync(folder, { withFileTypes: true })
        .flatMap((entry) => {
            const path = join(folder, entry.name);
            return entry.isDirectory() ? gltfFiles(path) : /\.(glb|gltf)$/.test(path) ? [path] : [];
        })
        .sort();
}

/** How many clips a file has; 0 if pelt refuses it. */
async function clipCount(path)
{
    try {
        return JSON.parse((await run(pelt, ['info', path, '--json'])).stdout).clips.length;
    } catch {
        return 0;
    }
}

/** Runs pelt so that it writes a file, and returns the validator's errors; null: refused. */
async function errorsOf(output, args)
{
    try {
        await run(pelt, [...args, '-o', output]);
    } catch (error) {
        if (error.code === 1 && REFUSABLE.test(error.stderr)) {
            return null;
        }
        return [`pelt ${args.join(' ')}: exit ${error.code ?? error.signal}: ${error.stderr}`];
    }
    const report = await validator.validateBytes(new Uint8Array(readFileSync(output)));
    rmSync(output);
    return report.issues.messages
        .filter((message) => message.severity === 0)
        .map((message) => `${message.code} ${message.pointer}: ${message.message}`);
}

const sample = join(work, 'sample.glb');
await run(pelt, ['sample', '-o', sample]);
const jobs = [
    ['sample'],
    ['skin', sample, '--clip', '0', '--time', '0.3'],
    ['skin', sample, '--device', 'reference'],
];
if (existsSync(models)) {
    for (const path of gltfFiles(models)) {
        jobs.push(['skin', path, '--device', 'cpu']);
        if (await clipCount(path) > 0) {
            jobs.push(['skin', path, '--clip', '0', '--time', '0.4']); // on the GPU, if there is one
        }
    }
} else {
    console.log(`note: ${models} is not there; only the sample is validated`);
}

let passed = 0;
let failed = 0;
let refused = 0;
let next = 0;
async function worker()
{
    while (next < jobs.length) {
        const index = next++;
        const errors = await errorsOf(join(work, `output-${index}.glb`), jobs[index]);
        if (errors === null) {
            refused++;
        } else if (errors.length === 0) {
            passed++;
        } else {
            failed++;
            console.log(`FAIL pelt ${jobs[index].join(' ')}`);
            errors.slice(0, 5).forEach((error) => console.log(`     ${error}`));
        }
    }
}
await Promise.all(Array.from({ length: availableParallelism?.() ?? cpus().length }, worker));
console.log(`validator ${validator.version()}: ${passed} outputs without errors, ${failed} with, ` +
    `${refused} inputs refused for a reason (${REFUSABLE.source})`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
