// What JavaScriptClientIT runs: Elasticsearch's own JavaScript client against a node with the
// plugin. The client knows nothing of the plugin; the index template of the pages switches it on.
// Answers are compared with exact search here. Prints one line of JSON.
//
// node scenarios.mjs <address of the node> <file of the index template> <folder with node_modules>

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const [address, templateFile, packages] = process.argv.slice(2)
const require = createRequire(join(resolve(packages), 'package.json'))
const { Client } = require('@elastic/elasticsearch')
const { version } = require('@elastic/elasticsearch/package.json')

const INDEX = 'js-photos'
const DIMS = 64
const COUNT = 300
const CANDIDATES = 150
const QUERIES = 4

const client = new Client({ node: address })

// A generator of 32 bits (xorshift), so that every run has the same vectors.
function random (seed) {
  let state = seed
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4294967296
  }
  const gaussian = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  return { next, gaussian }
}

// Vectors around common centres; components are multiples of 1/64, which float32 keeps exact.
function clustered (count, dims, clusters, seed) {
  const { next, gaussian } = random(seed)
  const centres = Array.from({ length: clusters }, () => Array.from({ length: dims }, gaussian))
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(next() * clusters)]
    return centre.map(c => Math.round(64 * (c + gaussian() / 4)) / 64)
  })
}

const vectors = clustered(COUNT + QUERIES, DIMS, 20, 21)
const queries = vectors.slice(COUNT)

const score = (a, b) => 1 / (1 + a.reduce((sum, x, j) => sum + (x - b[j]) ** 2, 0))
const isRed = doc => doc % 4 === 0
const isRare = doc => doc % 100 === 7

// Scores of all accepted documents, best first, as [document, score].
function ranked (query, accepted = () => true) {
  return sorted(vectors.slice(0, COUNT)
    .map((v, doc) => [doc, score(query, v)])
    .filter(([doc]) => accepted(doc)))
}

const sorted = scores => [...scores].sort((a, b) => b[1] - a[1])

function sums (...parts) {
  const total = new Map()
  for (const part of parts) {
    for (const [doc, value] of part) total.set(doc, (total.get(doc) ?? 0) + value)
  }
  return sorted(total)
}

const times = (scores, factor) => scores.map(([doc, value]) => [doc, factor * value])

function assertClose (expected, actual, what) {
  assert.ok(Math.abs(expected - actual) <= 1e-5 * expected, `${what}: ${expected} and ${actual}`)
}

// The best of the expected documents, in their order; equal scores may stand for each other.
function assertBest (expected, size, response) {
  assert.equal(response.timed_out, false)
  assert.equal(response._shards.failed, 0)
  const hits = response.hits.hits
  assert.equal(hits.length, Math.min(size, expected.length))
  const right = new Map(expected)
  assert.equal(new Set(hits.map(hit => hit._id)).size, hits.length)
  hits.forEach((hit, rank) => {
    assert.ok(right.has(Number(hit._id)), `document ${hit._id} should not be a hit`)
    assertClose(right.get(Number(hit._id)), hit._score, `score of document ${hit._id}`)
    assertClose(expected[rank][1], hit._score, `score at rank ${rank}`)
  })
}

const knn = (i, more = {}) => ({
  field: 'plain', query_vector: queries[i], k: 10, num_candidates: CANDIDATES, ...more
})

const search = request => client.search({ index: INDEX, _source: false, ...request })

const vector = type => ({
  type: 'dense_vector', dims: DIMS, similarity: 'l2_norm', index_options: { type }
})

async function bulk (index, from, to, document) {
  const operations = []
  for (let doc = from; doc < to; doc++) {
    operations.push({ index: { _id: String(doc) } }, document(doc))
  }
  const { errors } = await client.bulk({ index, refresh: true, operations })
  assert.equal(errors, false)
}

async function formats (index) {
  const { indices } = await client.indices.segments({ index })
  return Object.values(indices[index].shards).flat()
    .flatMap(shard => Object.values(shard.segments))
    .map(segment => 'Vamana1VectorsFormat' in (segment.attributes ?? {}))
}

async function assertInOurFormat (index) {
  const found = await formats(index)
  assert.ok(found.length > 0 && found.every(ours => ours), `${index}: ${found}`)
}

// An endpoint for which the client has no method.
const perform = (method, path, body, querystring) =>
  client.transport.request({ method, path, body, querystring })

const scenarios = {
  async template () {
    const template = JSON.parse(readFileSync(templateFile, 'utf8'))
    await client.indices.putIndexTemplate({ name: 'vamana-for-all', ...template })
    await client.indices.create({
      index: INDEX,
      settings: { number_of_shards: 2, number_of_replicas: 0 },
      mappings: {
        properties: {
          plain: vector('hnsw'),
          int8: vector('int8_hnsw'),
          bbq: vector('bbq_hnsw'),
          color: { type: 'keyword' },
          caption: { type: 'text' }
        }
      }
    })
    const photo = doc => ({
      plain: vectors[doc],
      int8: vectors[doc],
      bbq: vectors[doc],
      color: isRed(doc) ? 'red' : 'blue',
      caption: isRare(doc) ? 'a rare bird' : 'a common bird'
    })
    await bulk(INDEX, 0, COUNT / 2, photo)
    await bulk(INDEX, COUNT / 2, COUNT, photo)
    const settings = await client.indices.getSettings({ index: INDEX, flat_settings: true })
    assert.equal(settings[INDEX].settings['index.vamana.enabled'], 'true')
    await assertInOurFormat(INDEX)
  },

  async knn () {
    for (let i = 0; i < QUERIES; i++) {
      for (const field of ['plain', 'int8', 'bbq']) {
        assertBest(ranked(queries[i]), 10, await search({ knn: knn(i, { field }) }))
      }
    }
  },

  async filter () {
    for (let i = 0; i < QUERIES; i++) {
      const filter = color => ({ term: { color } })
      assertBest(
        ranked(queries[i], isRed), 10, await search({ knn: knn(i, { filter: filter('red') }) }))
      assertBest([], 10, await search({ knn: knn(i, { filter: filter('green') }) }))
    }
  },

  // The threshold lies between the distances of the 5th and the 6th nearest.
  async similarity () {
    for (let i = 0; i < QUERIES; i++) {
      const best = ranked(queries[i])
      const similarity = Math.sqrt(2 / (best[4][1] + best[5][1]) - 1)
      assertBest(best.slice(0, 5), 10, await search({ knn: knn(i, { similarity }) }))
    }
  },

  async rescore () {
    for (let i = 0; i < QUERIES; i++) {
      for (const field of ['int8', 'bbq']) {
        const request = knn(i, { field, rescore_vector: { oversample: 2.5 } })
        assertBest(ranked(queries[i]), 10, await search({ knn: request }))
      }
    }
  },

  async 'several knn clauses' () {
    for (let i = 0; i < QUERIES; i++) {
      const other = (i + 1) % QUERIES
      const expected = sums(
        ranked(queries[i]).slice(0, 10), times(ranked(queries[other]).slice(0, 5), 0.5))
      const response = await search({
        knn: [knn(i), knn(other, { field: 'int8', k: 5, boost: 0.5 })], size: 15
      })
      assertBest(expected, 15, response)
    }
  },

  async hybrid () {
    for (let i = 0; i < QUERIES; i++) {
      const expected = sums(
        ranked(queries[i], isRare).map(([doc]) => [doc, 3]),
        times(ranked(queries[i]).slice(0, 10), 2))
      const response = await search({
        query: { constant_score: { filter: { match: { caption: 'rare' } }, boost: 3 } },
        knn: knn(i, { boost: 2 }),
        size: 20
      })
      assertBest(expected, 20, response)
    }
  },

  async 'knn query in bool' () {
    for (let i = 0; i < QUERIES; i++) {
      const clause = knn(i, { k: COUNT, num_candidates: COUNT, filter: { term: { color: 'red' } } })
      const should = { match: { caption: { query: 'rare', boost: 0 } } }
      const response = await search({ query: { bool: { must: { knn: clause }, should } } })
      assertBest(ranked(queries[i], isRed), 10, response)
    }
  },

  async retrievers () {
    for (let i = 0; i < QUERIES; i++) {
      const expected = ranked(queries[i])
      assertBest(expected, 10, await search({ retriever: { knn: knn(i) } }))
      assertBest(
        expected, 10, await search({ retriever: { standard: { query: { knn: knn(i) } } } }))
    }
  },

  // Reciprocal rank fusion belongs to x-pack, which the assembled node lacks.
  async 'no rrf' () {
    const rrf = { retrievers: [{ standard: { query: { match_all: {} } } }, { knn: knn(0) }] }
    await assert.rejects(search({ retriever: { rrf } }), error => {
      assert.equal(error.statusCode, 400)
      assert.match(error.message, /unknown retriever \[rrf\]/)
      return true
    })
  },

  async msearch () {
    const searches = queries.flatMap((query, i) => [{}, { knn: knn(i), _source: false }])
    const { responses } = await client.msearch({ index: INDEX, searches })
    assert.equal(responses.length, QUERIES)
    responses.forEach((response, i) => assertBest(ranked(queries[i]), 10, response))
  },

  // Page p is number p / albums of album p % albums; an album scores as its best page.
  async 'nested with inner hits' () {
    const index = 'js-albums'
    const albums = 100
    await client.indices.create({
      index,
      mappings: { properties: { pages: { type: 'nested', properties: { v: vector('hnsw') } } } }
    })
    await bulk(index, 0, albums, album => {
      const pages = []
      for (let page = album; page < COUNT; page += albums) pages.push({ v: vectors[page] })
      return { pages }
    })
    await assertInOurFormat(index)
    for (let i = 0; i < QUERIES; i++) {
      const byPage = new Map(ranked(queries[i]))
      const byAlbum = new Map()
      for (const [page, value] of byPage) {
        byAlbum.set(page % albums, Math.max(value, byAlbum.get(page % albums) ?? 0))
      }
      const response = await client.search({
        index,
        _source: false,
        knn: knn(i, { field: 'pages.v', k: 5, inner_hits: { size: 1, _source: false } })
      })
      assertBest(sorted(byAlbum), 5, response)
      for (const hit of response.hits.hits) {
        const inner = hit.inner_hits.pages.hits.hits[0]
        const page = inner._nested.offset * albums + Number(hit._id)
        assert.equal(byPage.get(page), byAlbum.get(Number(hit._id)))
        assertClose(byPage.get(page), inner._score, `page ${page}`)
      }
    }
  },

  // An index that opts in by its own settings.
  async settings () {
    const index = 'js-points'
    await client.indices.create({
      index,
      settings: { 'index.vamana.enabled': true, 'index.vamana.graph_threshold': 0 },
      mappings: { properties: { v: vector('hnsw') } }
    })
    await bulk(index, 0, COUNT, doc => ({ v: vectors[doc] }))
    await assertInOurFormat(index)
    let found = 0
    for (let i = 0; i < QUERIES; i++) {
      const response = await client.search({ index, _source: false, knn: knn(i, { field: 'v' }) })
      const nearest = new Set(ranked(queries[i]).slice(0, 10).map(([doc]) => doc))
      found += response.hits.hits.filter(hit => nearest.has(Number(hit._id))).length
    }
    assert.ok(found >= 0.95 * 10 * QUERIES, `found ${found} of ${10 * QUERIES}`)
  },

  async 'our endpoints' () {
    const batch = await perform('POST', `/${INDEX}/_vamana/search`, {
      field: 'plain', query_vectors: queries, k: 10, num_candidates: CANDIDATES, format: 'columns'
    })
    queries.forEach((query, i) => {
      const hits = batch.ids[i].map((_id, rank) => ({ _id, _score: batch.scores[i][rank] }))
      assertBest(ranked(query), 10, { timed_out: false, _shards: batch._shards, hits: { hits } })
    })
    const stats = await perform('GET', '/_vamana/nodes/stats')
    assert.equal(Object.keys(stats.nodes).length, 1)
    const segments = await perform('GET', `/_cat/vamana/${INDEX}`, undefined, { format: 'json' })
    assert.deepEqual(
      [...new Set(segments.map(segment => `${segment.index} ${segment.field}`))].sort(),
      [`${INDEX} bbq`, `${INDEX} int8`, `${INDEX} plain`])
    const warmed = await perform('POST', `/${INDEX}/_vamana/warmup`)
    assert.equal(warmed._shards.failed, 0)
  }
}

const passed = []
for (const [name, scenario] of Object.entries(scenarios)) {
  try {
    await scenario()
  } catch (error) {
    error.message = `${name}: ${error.message}`
    throw error
  }
  passed.push(name)
}
await client.close()
console.log(JSON.stringify({ client: version, node: process.versions.node, passed }))
