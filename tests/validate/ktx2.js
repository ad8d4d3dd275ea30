// ktx2.js PELT WORK MODELS: bakes the sample and, where MODELS exists, some models in every format,
// and has ktx-parse and three.js's KTX2Loader read the textures. What these find must be what the
// JSON file beside the texture says. Where Chromium is installed, three.js also gives one to WebGL.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import * as ktx from 'ktx-parse';
import { FloatType, HalfFloatType, RGBAFormat } from 'three';

globalThis.self = globalThis; // the loader is made for browsers
const { KTX2Loader } = await import('three/examples/jsm/loaders/KTX2Loader.js');

const [pelt, work, models] = process.argv.slice(2);
const FORMATS = [
    [],
    ['--matrix', '4x4'],
    ['--format', 'rgba16f'],
    ['--format', 'dualquat'],
    ['--max-size', '64'], // an array of layers
];

/** What ktx-parse makes of it, against the description. */
function checkWithKtxParse(bytes, description)
{
    const container = ktx.read(bytes);
    const half = description.format === 'rgba16f';
    const bytesPerTexel = half ? 8 : 16;
    assert.equal(container.vkFormat, half ? ktx.VK_FORMAT_R16G16B16A16_SFLOAT
                                          : ktx.VK_FORMAT_R32G32B32A32_SFLOAT);
    assert.equal(container.typeSize, bytesPerTexel / 4);
    assert.equal(container.pixelWidth, description.width);
    assert.equal(container.pixelHeight, description.height);
    assert.equal(container.pixelDepth, 0);
    assert.equal(container.layerCount, description.layers > 1 ? description.layers : 0);
    assert.equal(container.faceCount, 1);
    assert.equal(container.supercompressionScheme, ktx.KHR_SUPERCOMPRESSION_NONE);
    assert.equal(container.levels.length, 1);
    const { levelData, uncompressedByteLength } = container.levels[0];
    const size = description.width * description.height * description.layers * bytesPerTexel;
    assert.equal(levelData.byteLength, size);
    assert.equal(uncompressedByteLength, size);

    assert.equal(container.dataFormatDescriptor.length, 1);
    const [block] = container.dataFormatDescriptor;
    assert.equal(block.colorModel, ktx.KHR_DF_MODEL_RGBSDA);
    assert.equal(block.transferFunction, ktx.KHR_DF_TRANSFER_LINEAR);
    assert.equal(block.colorPrimaries, ktx.KHR_DF_PRIMARIES_UNSPECIFIED);
    assert.equal(block.flags, ktx.KHR_DF_FLAG_ALPHA_STRAIGHT);
    assert.equal(block.bytesPlane[0], bytesPerTexel);
    const channels = block.samples.map((sample) => [sample.bitOffset, sample.channelType & 15]);
    assert.deepEqual(channels, [0, 1, 2, 15].map((channel, i) => [i * bytesPerTexel * 2, channel]));

    assert.match(container.keyValue.KTXwriter, /^pelt \d+\.\d+\.\d+/);
    assert.deepEqual(Object.keys(container.keyValue), ['KTXwriter', 'pelt']);
    const text = new TextDecoder().decode(container.keyValue.pelt); // ends with a zero byte
    assert.ok(text.endsWith('}\0'));
    assert.deepEqual(JSON.parse(text.slice(0, -1)), description);
    return levelData;
}

/** What three.js makes of it. It has no arrays of float layers: one image, all the data. */
async function checkWithThree(bytes, description, levelData)
{
    const loader = new KTX2Loader();
    loader.workerConfig = {}; // of compressed textures alone, asked of a renderer
    const texture = await new Promise((resolve, reject) => loader.parse(bytes.buffer, resolve, reject));
    assert.equal(texture.format, RGBAFormat);
    assert.equal(texture.type, description.format === 'rgba16f' ? HalfFloatType : FloatType);
    assert.equal(texture.image.width, description.width);
    assert.equal(texture.image.height, description.height);
    const { buffer, byteOffset, byteLength } = texture.image.data;
    assert.ok(Buffer.from(buffer, byteOffset, byteLength).equals(Buffer.from(levelData)));
}

/** The program, or undefined. */
function findChromium()
{
    const folders = (process.env.PATH ?? '').split(':');
    return ['chromium', 'chromium-browser', 'google-chrome']
        .flatMap((name) => folders.map((folder) => join(folder, name)))
        .find(existsSync);
}

/** Serves the folder of work to a page in Chromium, and returns what that page says. */
async function inBrowser(chromium)
{
    const types = { '.html': 'text/html', '.js': 'text/javascript' };
    const server = createServer((request, response) => {
        const path = join(work, new URL(request.url, 'http://localhost').pathname);
        const type = types[extname(path)] ?? 'application/octet-stream';
        response.writeHead(existsSync(path) ? 200 : 404, { 'Content-Type': type });
        response.end(existsSync(path) ? readFileSync(path) : '');
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const profile = mkdtempSync(join(tmpdir(), 'pelt-browser-'));
    try {
        const page = await promisify(execFile)(chromium, [
            '--headless', '--no-sandbox', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage',
            `--user-data-dir=${profile}`, '--virtual-time-budget=30000', '--dump-dom',
            `http://127.0.0.1:${server.address().port}/browser.html`,
        ], { timeout: 60000 });
        return JSON.parse(page.stdout.match(/<pre id="result">(.+?)<\/pre>/)[1]);
    } finally {
        server.close();
        rmSync(profile, { recursive: true, force: true });
    }
}

const sample = join(work, 'bake-sample.glb');
execFileSync(pelt, ['sample', '-o', sample]);
const inputs = [sample];
if (existsSync(models)) {
    inputs.push(join(models, 'khronos/Fox.glb'), join(models, 'khronos/RecursiveSkeletons.glb'));
} else {
    console.log(`note: ${models} is not there; only the sample is baked`);
}
let checked = 0;
for (const input of inputs) {
    for (const format of FORMATS) {
        const output = join(work, 'baked.ktx2');
        execFileSync(pelt, ['bake', input, '-o', output, ...format], { stdio: 'ignore' });
        const bytes = Uint8Array.from(readFileSync(output));
        const description = JSON.parse(readFileSync(join(work, 'baked.json'), 'utf8'));
        assert.equal(description.layers > 1, format[0] === '--max-size');
        await checkWithThree(bytes, description, checkWithKtxParse(bytes, description));
        checked++;
    }
    rmSync(join(work, 'baked.ktx2'));
    rmSync(join(work, 'baked.json'));
}
const chromium = findChromium();
if (chromium) {
    execFileSync(pelt, ['bake', sample, '-o', join(work, 'baked.ktx2')], { stdio: 'ignore' });
    const { width, height } = JSON.parse(readFileSync(join(work, 'baked.json'), 'utf8'));
    const numbers = 4 * width * height;
    assert.deepEqual(await inBrowser(chromium), { width, height, loaded: numbers, same: numbers });
}
console.log(`three.js in Chromium: ${chromium ? 'read back the same texels' : 'not installed'}`);
console.log(`ktx-parse and three.js read ${checked} textures as they are described`);
