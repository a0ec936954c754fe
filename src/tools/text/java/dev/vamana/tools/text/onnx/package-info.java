/** The sentence encoder of the demo, which only {@code -Dset=text} compiles and resolves. */
package dev.vamana.tools.text.onnx;
